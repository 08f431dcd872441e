#!/usr/bin/env bash
# Compiles and links the app's resources and manifest with Android's own tool,
# aapt2, against Robolectric's Android: every reference must resolve. It writes
# R.java, the APK of the resources and Robolectric's configuration, and the
# bundle as the app's asset.
# usage: resources.sh ANDROID_JAR OUT
set -euo pipefail
android=$1 out=$2 app=$(cd "$(dirname "$0")/../app/src/main" && pwd)
rm -rf "$out"
mkdir -p "$out/config/com/android/tools"
../bundle.sh "$out/assets/classifier.bundle"
# Gradle adds the package, which is the namespace of build.gradle.kts.
package=$(sed -n 's/^ *namespace = "\(.*\)"/\1/p' ../app/build.gradle.kts)
sed "s/<manifest /&package=\"$package\" /" "$app/AndroidManifest.xml" > "$out/AndroidManifest.xml"
aapt2 compile --dir "$app/res" -o "$out/res.zip"
# It warns of the framework's form: a compressed one, and parts newer than aapt2.
aapt2 link -I "$android" --manifest "$out/AndroidManifest.xml" -A "$out/assets" --java "$out/java" -o "$out/resources.apk" \
  --min-sdk-version 24 --target-sdk-version 34 "$out/res.zip" 2> "$out/log" || { cat "$out/log" >&2; exit 1; }
cat > "$out/config/com/android/tools/test_config.properties" <<END
android_resource_apk=$out/resources.apk
android_merged_assets=$out/assets
android_merged_manifest=$out/AndroidManifest.xml
android_custom_package=$package
END

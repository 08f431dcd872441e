import org.jetbrains.kotlin.gradle.dsl.JvmTarget

plugins {
    alias(libs.plugins.android.application)
    alias(libs.plugins.kotlin.android)
}

/** Makes the bundle from examples/classifier; it needs Go. */
abstract class CreateBundle : DefaultTask() {
    @get:InputFile
    abstract val script: RegularFileProperty

    @get:InputDirectory
    abstract val classifier: DirectoryProperty

    @get:OutputDirectory
    abstract val assets: DirectoryProperty

    @get:Inject
    abstract val processes: ExecOperations

    @TaskAction
    fun create() {
        processes.exec { commandLine(script.get().asFile.path, assets.file("classifier.bundle").get().asFile.path) }
    }
}

val createBundle = tasks.register<CreateBundle>("createBundle") {
    script = rootProject.layout.projectDirectory.file("bundle.sh")
    classifier = rootProject.layout.projectDirectory.dir("../classifier")
}

// make aar makes the library.
val version = providers.fileContents(rootProject.layout.projectDirectory.file("../../internal/version/VERSION")).asText.get().trim()
val aar = rootProject.layout.projectDirectory.file("../../dist/infer-prep-android-$version.aar")

android {
    namespace = "io.github.inferprep.example"
    compileSdk = 35

    defaultConfig {
        applicationId = "io.github.inferprep.example"
        minSdk = 24
        targetSdk = 35
        versionCode = 1
        versionName = "1"
        // The AAR has native libraries for these.
        ndk { abiFilters += listOf("arm64-v8a", "armeabi-v7a", "x86_64") }
    }

    buildTypes {
        release {
            isMinifyEnabled = true
            isShrinkResources = true
            proguardFiles(getDefaultProguardFile("proguard-android-optimize.txt"), "proguard-rules.pro")
            // The example has no key of its own.
            signingConfig = signingConfigs.getByName("debug")
        }
    }

    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_1_8
        targetCompatibility = JavaVersion.VERSION_1_8
    }
}

kotlin {
    compilerOptions {
        jvmTarget = JvmTarget.JVM_1_8
    }
}

androidComponents {
    onVariants { variant -> variant.sources.assets?.addGeneratedSourceDirectory(createBundle, CreateBundle::assets) }
}

dependencies {
    implementation(files(aar))
    implementation(libs.activity)
    implementation(libs.camera.camera2)
    implementation(libs.camera.core)
    implementation(libs.camera.lifecycle)
    implementation(libs.camera.view)
    implementation(libs.coroutines)
    implementation(libs.onnxruntime)
}

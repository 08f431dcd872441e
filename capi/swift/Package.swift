// swift-tools-version:5.7
import PackageDescription

// The C library is found by pkg-config: PKG_CONFIG_PATH has its lib/pkgconfig.
let package = Package(
    name: "infer-prep",
    products: [.library(name: "InferPrep", targets: ["InferPrep"])],
    targets: [
        .systemLibrary(name: "CInferPrep", pkgConfig: "infer_prep"),
        .target(name: "InferPrep", dependencies: ["CInferPrep"]),
        .testTarget(name: "InferPrepTests", dependencies: ["InferPrep"]),
    ]
)

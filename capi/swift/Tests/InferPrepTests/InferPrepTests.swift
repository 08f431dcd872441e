import Foundation
import InferPrep
import XCTest

final class InferPrepTests: XCTestCase {
    /// The root of the repository.
    let root = (0..<5).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }

    func file(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: root.appendingPathComponent(name)))
    }

    func fails(_ status: Int32, _ part: String, _ f: () throws -> Void) {
        XCTAssertThrowsError(try f()) { error in
            XCTAssertEqual((error as? PrepError)?.status, status)
            XCTAssertTrue("\(error)".contains(part), "\(error)")
        }
    }

    func testRun() throws {
        let image = try file("testdata/images/jpeg_large.jpg")
        let graph = try Graph(name: "preset:imagenet")
        XCTAssertEqual(try graph.outputs().map { $0.shape }, [[3, 224, 224]])
        let outputs = try graph.run(image)
        XCTAssertEqual(try outputs.shape(0), [3, 224, 224])
        let floats = try outputs.floats(0)
        XCTAssertEqual(Array(floats.prefix(3)), [-1.0561693, -0.88492167, -0.6622999])
        var memory = [Float](repeating: 0, count: floats.count)
        XCTAssertEqual(try memory.withUnsafeMutableBytes { try graph.run(image, into: $0) }, [3, 224, 224])
        XCTAssertEqual(memory, floats)
        var small = [Float](repeating: 0, count: 5)
        fails(9, "602112 bytes") { _ = try small.withUnsafeMutableBytes { try graph.run(image, into: $0) } }
        fails(8, "output 7") { _ = try outputs.floats(7) }
        fails(7, "did you mean") { _ = try Graph(name: "preset:imagenett") }
        fails(2, "unknown format") { _ = try Graph(contents: image) }
    }

    func testTokens() throws {
        let tokens = try Tokens(folder: root.appendingPathComponent("examples/vlm/model").path)
        let images = try tokens.images([(height: 310, width: 420), (height: 56, width: 56)])
        XCTAssertEqual(images.map { $0.tokens }, [165, 4])
        XCTAssertEqual(images[1].text, String(repeating: "<|image_pad|>", count: 4))
        XCTAssertEqual(try tokens.images([]).count, 0)
    }
}

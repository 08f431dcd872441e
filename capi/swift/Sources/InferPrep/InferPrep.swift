import CInferPrep

/// PrepError is a failed call: the ip_status of infer_prep.h, and the library's
/// message.
public struct PrepError: Error, CustomStringConvertible {
    public let status: Int32
    public let message: String
    public var description: String { message }
}

/// check calls f with an ip_error and throws what it reports.
func check(_ f: (UnsafeMutablePointer<ip_error>) -> ip_status) throws {
    var e = ip_error()
    e.struct_size = UInt32(MemoryLayout<ip_error>.stride)
    let status = withUnsafeMutablePointer(to: &e) { f($0) }
    if status != 0 {
        throw PrepError(status: status, message: text(e.message))
    }
}

/// text is that of an array of characters, which Swift sees as a tuple. It ends
/// with 0.
func text<T>(_ characters: T) -> String {
    withUnsafeBytes(of: characters) { bytes in
        String(decoding: bytes.prefix(while: { $0 != 0 }), as: UTF8.self)
    }
}

/// shape is the first rank elements of an array of ip_column or ip_tensor.
func shape<T>(_ sizes: T, rank: Int32) -> [Int] {
    withUnsafeBytes(of: sizes) { bytes in
        bytes.bindMemory(to: Int64.self).prefix(Int(rank)).map { Int($0) }
    }
}

/// Column describes an input or an output. A size of -1 depends on the image.
public struct Column {
    public let name: String
    public let dtype: Int32
    public let shape: [Int]
}

/// Graph is open preprocessing. Several threads may use it at once.
public final class Graph: @unchecked Sendable {
    let handle: OpaquePointer

    /// Opens the name of a file, of a model's folder or of a preset, such as
    /// "preset:imagenet".
    public init(name: String) throws {
        var graph: OpaquePointer?
        try check { ip_graph_open_name(name, nil, &graph, $0) }
        handle = graph!
    }

    /// Opens the content of a file.
    public init(contents: [UInt8]) throws {
        var graph: OpaquePointer?
        try check { error in
            contents.withUnsafeBytes { ip_graph_open($0.baseAddress, $0.count, nil, &graph, error) }
        }
        handle = graph!
    }

    deinit { ip_graph_free(handle) }

    /// The outputs, in order.
    public func outputs() throws -> [Column] {
        let list = Int32(IP_OUTPUTS)
        var columns: [Column] = []
        for i in 0..<max(0, ip_graph_count(handle, list)) {
            var c = ip_column()
            c.struct_size = UInt32(MemoryLayout<ip_column>.stride)
            try check { ip_graph_describe(handle, list, i, &c, $0) }
            columns.append(Column(name: text(c.name), dtype: c.dtype, shape: shape(c.shape, rank: c.rank)))
        }
        return columns
    }

    /// Runs the graph on an encoded image.
    public func run(_ image: [UInt8]) throws -> Outputs {
        var result: OpaquePointer?
        try check { error in
            image.withUnsafeBytes { bytes in
                var input = ip_encoded(bytes.baseAddress, bytes.count)
                return ip_run(handle, &input, 1, &result, error)
            }
        }
        return Outputs(result!)
    }

    /// Runs the graph on an encoded image and writes the first output to memory.
    /// It returns the shape. Too little memory is an error, IP_CAPACITY.
    @discardableResult
    public func run(_ image: [UInt8], into memory: UnsafeMutableRawBufferPointer) throws -> [Int] {
        var t = ip_tensor()
        t.struct_size = UInt32(MemoryLayout<ip_tensor>.stride)
        t.data = memory.baseAddress
        t.capacity = UInt64(memory.count)
        try check { error in
            image.withUnsafeBytes { bytes in
                var input = ip_encoded(bytes.baseAddress, bytes.count)
                return ip_run_into(handle, &input, 1, &t, 1, error)
            }
        }
        return shape(t.shape, rank: t.rank)
    }
}

/// Outputs are the outputs of a run, in the library's memory. One thread at a
/// time may use them.
public final class Outputs {
    let handle: OpaquePointer

    init(_ result: OpaquePointer) { handle = result }

    deinit { ip_result_free(handle) }

    func tensor(_ i: Int) throws -> ip_tensor {
        var t = ip_tensor()
        t.struct_size = UInt32(MemoryLayout<ip_tensor>.stride)
        try check { ip_result_tensor(handle, Int32(i), &t, $0) }
        return t
    }

    /// The shape of output i.
    public func shape(_ i: Int) throws -> [Int] {
        let t = try tensor(i)
        return InferPrep.shape(t.shape, rank: t.rank)
    }

    /// Calls body with the bytes of output i, which are valid during the call.
    public func withUnsafeBytes<R>(_ i: Int, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R {
        let t = try tensor(i)
        return try withExtendedLifetime(self) {
            try body(UnsafeRawBufferPointer(start: t.data, count: Int(t.bytes)))
        }
    }

    /// A copy of output i, whose dtype must be float32.
    public func floats(_ i: Int) throws -> [Float] {
        guard try tensor(i).dtype == Int32(IP_FLOAT32) else {
            throw PrepError(status: Int32(IP_INPUT), message: "infer_prep: result: the output has another dtype")
        }
        return try withUnsafeBytes(i) { Array($0.bindMemory(to: Float.self)) }
    }
}

/// ImageTokens is what replaces an image in a prompt. A number of -1 is one that
/// the reference does not have.
public struct ImageTokens {
    public let tokens: Int
    public let textTokens: Int
    public let text: String
}

/// Tokens computes the tokens that a Hugging Face processor puts in place of
/// images. Several threads may use it at once.
public final class Tokens: @unchecked Sendable {
    let handle: OpaquePointer

    /// Opens a model's folder.
    public init(folder: String) throws {
        var tokens: OpaquePointer?
        try check { ip_tokens_open(folder, &tokens, $0) }
        handle = tokens!
    }

    deinit { ip_tokens_free(handle) }

    /// The tokens of the images of one prompt, by their sizes as decoded.
    public func images(_ sizes: [(height: Int, width: Int)]) throws -> [ImageTokens] {
        let numbers = sizes.flatMap { [Int64($0.height), Int64($0.width)] }
        var empty = ip_image_tokens()
        empty.struct_size = UInt32(MemoryLayout<ip_image_tokens>.stride)
        var images = [ip_image_tokens](repeating: empty, count: sizes.count)
        var bytes: UInt64 = 0
        let n = Int32(sizes.count)
        try check { ip_tokens_images(handle, numbers, n, &images, nil, 0, &bytes, $0) }
        var texts = [CChar](repeating: 0, count: Int(bytes))
        if bytes > 0 {
            try check { ip_tokens_images(handle, numbers, n, &images, &texts, UInt64(texts.count), nil, $0) }
        }
        return images.map { image in
            let part = texts[Int(image.text_at)..<Int(image.text_at + image.text_bytes)]
            return ImageTokens(
                tokens: Int(image.tokens), textTokens: Int(image.text_tokens),
                text: String(decoding: part.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        }
    }
}

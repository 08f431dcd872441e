/** File is the name of one of the package's WebAssembly files, without its extension. */
export type File = 'infer-prep' | 'infer-prep-simd' | 'infer-prep-full' | 'infer-prep-full-simd';

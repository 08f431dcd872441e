export * from './presets_gen.js';

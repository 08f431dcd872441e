import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import globals from 'globals';
import ts from 'typescript-eslint';
import circles from './scripts/circles.mjs';

export default defineConfig(
  { ignores: ['dist/', 'lib/', 'docs/', 'demo/dist/', 'bench/'] },
  js.configs.recommended,
  {
    files: ['src/**/*.ts', 'demo/src/**/*.ts'],
    extends: [ts.configs.strictTypeChecked, ts.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // Numbers stand in messages as they are.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // Callers in JavaScript pass values of other types.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // Indices are checked where they come from.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // The reason of an AbortSignal may be any value, and is passed on as it is.
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
    },
  },
  {
    files: ['src/**/*.ts'],
    plugins: { local: { rules: { circles } } },
    rules: { 'local/circles': 'error' },
  },
  {
    files: ['**/*.mjs'],
    languageOptions: { globals: { ...globals.node, ...globals.browser } },
  },
);

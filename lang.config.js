import ts from 'typescript-eslint';
import { languageRules } from './eslint.language.js';
export default [
 { linterOptions:{reportUnusedDisableDirectives:'off'}, files:['**/*.ts'], languageOptions:{parser:ts.parser} },
 ...languageRules(['services/**/*.ts','main/**/*.ts','renderer/**/*.ts'].map(x=>x), ['test/**/*.test.ts'])];

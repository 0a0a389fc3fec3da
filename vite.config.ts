import { gzipSync } from 'node:zlib';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';
import { languages } from './messages/generated/languages.ts';
import { sourceLanguage } from './messages/language.ts';

/** Emits a compressed copy of each script and style sheet, which the host serves unchanged. */
const compressed: Plugin = {
  name: 'compressed',
  generateBundle: {
    order: 'post',
    handler(_, bundle) {
      for (const [fileName, part] of Object.entries(bundle)) {
        if (!/\.(js|css)$/.test(fileName)) continue;
        const source = gzipSync(part.type === 'chunk' ? part.code : part.source, { level: 9 });
        this.emitFile({ type: 'asset', fileName: `${fileName}.gz`, source });
      }
    },
  },
};

/** Namespaces of the texts that the first page needs. */
const firstTexts = '(frame|home|inbox|parts|service|settings|settings-form|state)';
/** Namespaces of problems and permissions whose modules the first page also loads, for which English needs no file. */
const firstTranslations = '(access|contracts-problems|control-problems|push-problems)';

/** Paths of modules that the first page needs and that are too small for requests of their own, without extensions. */
const firstPage = [
  'messages/(language|format|runtime)',
  `messages/generated/${firstTexts}`,
  'renderer/src/icons/service-icons',
  'renderer/src/pages/service-groups',
  'renderer/src/pages/settings-form/(drafts.svelte|page-settings)',
  'renderer/src/parts/form/StepButton',
  'renderer/src/parts/layout/PageNotFound',
  'renderer/src/parts/text/(Kbd|Logo|Progress|StateDot|first-line)',
  'renderer/src/state/(coalesce|language.svelte)',
  'renderer/src/state/dead-letters/(dead-letters.svelte|job-labels)',
  'renderer/src/state/inbox/(inbox.svelte|labels)',
];

export default defineConfig({
  root: 'renderer',
  publicDir: 'public',
  // Messages are parsed when their modules are generated, so pages need no parser.
  resolve: { alias: { '@formatjs/icu-messageformat-parser': '@formatjs/icu-messageformat-parser/no-parser.js' } },
  plugins: [svelte({ configFile: '../svelte.config.js' }), compressed],
  build: {
    outDir: '../dist/renderer',
    emptyOutDir: true,
    target: 'es2024',
    // The content security policy allows no data: fonts or scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Tabs load all views in one way, also those that a page shows itself.
      checks: { ineffectiveDynamicImport: false },
      output: {
        hashCharacters: 'base64',
        // Modules that most pages share form one chunk, because forty small requests take longer.
        codeSplitting: {
          groups: [
            {
              name: 'shared',
              test: /renderer\/src\/(parts|state|api)\/|node_modules\/(svelte|zod)\/|services\/contracts\//,
              minShareCount: 20,
            },
            // Texts and small modules of the frame and of Home, which the first page loads.
            { name: 'first', test: new RegExp(`(${firstPage.join('|')})\\.(svelte|ts)`) },
            // Their translations: one file for each language compresses better than eight, and is a single request.
            ...languages
              .filter((language) => language !== sourceLanguage)
              .map((language) => ({
                name: `first-${language}`,
                test: new RegExp(`messages/generated/${language}/(${firstTexts}|${firstTranslations})\\.ts`),
              })),
          ],
        },
      },
    },
  },
});

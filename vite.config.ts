import { gzipSync } from 'node:zlib';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';

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
              minShareCount: 14,
            },
          ],
        },
      },
    },
  },
});

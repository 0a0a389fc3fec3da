// Draws the app icon, the tray images and the icons of the installed page from their SVG sources in assets/ through Chromium.
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../test/support/browser.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const assets = fileURLToPath(new URL('../assets', import.meta.url));
/** Icons of the web app manifest and for phones, served with the pages. */
const pageIcons = fileURLToPath(new URL('../renderer/public/icons', import.meta.url));
const iconSizes = [16, 24, 32, 48, 64, 128, 256, 512, 1024];
const trayStates = ['normal', 'attention', 'error', 'paused'];
/** Sizes in points, each drawn in single and double resolution. Windows uses 16, Linux panels 22 or 32. */
const traySizes = [16, 22, 32];

async function draw(page: Page, svg: string, size: number, path: string): Promise<void> {
  await page.setViewportSize({ width: size, height: size });
  await page.setContent(`<style>*{margin:0}svg{display:block;width:100vw;height:100vh}</style>${svg}`);
  await page.screenshot({ path, omitBackground: true });
  console.log(path.slice(root.length));
}

/** Returns the drawing in black: macOS colors it for the menu bar. */
function template(svg: string): string {
  return svg.replace(/#[0-9a-f]{6}/gi, '#000000');
}

const browser = await launchBrowser('whole');
try {
  const page = await browser.newPage();
  const icon = await readFile(join(assets, 'icon.svg'), 'utf8');
  await mkdir(join(assets, 'icons'), { recursive: true });
  await draw(page, icon, 1024, join(assets, 'icon.png'));
  for (const size of iconSizes) {
    await draw(page, icon, size, join(assets, 'icons', `${String(size)}x${String(size)}.png`));
  }
  await mkdir(pageIcons, { recursive: true });
  for (const size of [192, 512]) await draw(page, icon, size, join(pageIcons, `${String(size)}.png`));
  // Phones mask these icons: the background extends to the edges and the symbol stays in the center.
  const full = await readFile(join(assets, 'icon-full.svg'), 'utf8');
  for (const size of [192, 512]) await draw(page, full, size, join(pageIcons, `maskable-${String(size)}.png`));
  await draw(page, full, 180, join(pageIcons, 'apple-180.png'));
  // The status bar shows only the shape.
  const mark = await readFile(join(assets, 'mark.svg'), 'utf8');
  await draw(page, template(mark).replaceAll('#000000', '#ffffff'), 96, join(pageIcons, 'badge-96.png'));
  for (const state of trayStates) {
    const svg = await readFile(join(assets, 'tray', `${state}.svg`), 'utf8');
    for (const size of traySizes) {
      // The 16-point image has no suffix; Electron finds its `@2x` automatically.
      const name = size === 16 ? state : `${state}-${String(size)}`;
      await draw(page, svg, size, join(assets, 'tray', `${name}.png`));
      await draw(page, svg, size * 2, join(assets, 'tray', `${name}@2x.png`));
    }
    await draw(page, template(svg), 16, join(assets, 'tray', `${state}Template.png`));
    await draw(page, template(svg), 32, join(assets, 'tray', `${state}Template@2x.png`));
  }
} finally {
  await browser.close();
}

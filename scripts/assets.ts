// Draws the app icon and the tray images from their SVG sources in assets/ through Chromium.
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../test/support/browser.ts';

const assets = fileURLToPath(new URL('../assets', import.meta.url));
const iconSizes = [16, 24, 32, 48, 64, 128, 256, 512, 1024];
const trayStates = ['normal', 'attention', 'error', 'paused'];
/** Points; each is drawn at once and twice its size. Windows takes 16, Linux panels 22 or 32. */
const traySizes = [16, 22, 32];

async function draw(page: Page, svg: string, size: number, path: string): Promise<void> {
  await page.setViewportSize({ width: size, height: size });
  await page.setContent(`<style>*{margin:0}svg{display:block;width:100vw;height:100vh}</style>${svg}`);
  await page.screenshot({ path, omitBackground: true });
  console.log(path.slice(assets.length + 1));
}

/** The same drawing in black alone: macOS colours it to fit the menu bar. */
function template(svg: string): string {
  return svg.replace(/#[0-9a-f]{6}/gi, '#000000');
}

const browser = await launchBrowser();
try {
  const page = await browser.newPage();
  const icon = await readFile(join(assets, 'icon.svg'), 'utf8');
  await mkdir(join(assets, 'icons'), { recursive: true });
  await draw(page, icon, 1024, join(assets, 'icon.png'));
  for (const size of iconSizes) {
    await draw(page, icon, size, join(assets, 'icons', `${String(size)}x${String(size)}.png`));
  }
  for (const state of trayStates) {
    const svg = await readFile(join(assets, 'tray', `${state}.svg`), 'utf8');
    for (const size of traySizes) {
      // The plain name is the 16-point image, which Electron pairs with its `@2x` by itself.
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

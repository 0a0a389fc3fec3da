import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const source = readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

interface Finding {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/**
 * What axe finds serious or critical on a page, one line a place. `what`: everything, or the contrast alone, which is all
 * that another theme changes of a page that was looked at.
 */
export async function seriousFindings(
  page: Page,
  what: 'everything' | 'contrast' = 'everything',
): Promise<readonly string[]> {
  // Evaluated by the debugger, which the page's security policy does not hinder.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(await source);
  const violations = await page.evaluate(
    async (runOnly) => {
      // A colour that is on its way to another is neither of them; what inherits it sets out when that has arrived. They are
      // ended rather than waited for: a window that has just been resized leaves one in thousands waiting for ever to begin.
      for (;;) {
        const fading = document.getAnimations().filter((each) => each instanceof CSSTransition);
        if (fading.length === 0) break;
        for (const each of fading) each.finish();
      }
      const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<{ violations: Finding[] }> } };
      return (await axe.run({ resultTypes: ['violations'], ...(runOnly === undefined ? {} : { runOnly }) })).violations;
    },
    what === 'contrast' ? ['color-contrast'] : undefined,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`));
}

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
 * Returns the serious and critical findings of axe, one line each. `what` selects all rules, or only contrast, which
 * is the only part that differs in another theme.
 */
export async function seriousFindings(
  page: Page,
  rules: 'everything' | 'contrast' = 'everything',
): Promise<readonly string[]> {
  // Evaluated through the debugger, which the content security policy does not block.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(await source);
  const violations = await page.evaluate(
    async (runOnly) => {
      // Finishes color transitions, because an intermediate color is neither of them. They are finished instead of
      // awaited: in a window that was just resized, one of thousands may never start.
      for (;;) {
        const transitions = document.getAnimations().filter((entry) => entry instanceof CSSTransition);
        if (transitions.length === 0) break;
        for (const each of transitions) each.finish();
      }
      const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<{ violations: Finding[] }> } };
      return (await axe.run({ resultTypes: ['violations'], ...(runOnly === undefined ? {} : { runOnly }) })).violations;
    },
    rules === 'contrast' ? ['color-contrast'] : undefined,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`));
}

import * as m from '#messages/data-sql';
import type { Locator, Page } from 'playwright-core';

/** Returns the SQL editor once its highlighting and completion are loaded; before that, it is a plain text field. */
export async function getSqlEditor(page: Page): Promise<Locator> {
  const editor = page.locator('.cm-content').and(page.getByRole('textbox', { name: m.statements(), exact: true }));
  await editor.waitFor();
  return editor;
}

/** Replaces the text of the SQL editor. */
export async function writeSql(page: Page, text: string): Promise<void> {
  await (await getSqlEditor(page)).fill(text);
}

/** Returns the text of the SQL editor. */
export async function readSql(page: Page): Promise<string> {
  const lines = (await getSqlEditor(page)).locator('.cm-line');
  return lines.evaluateAll((elements) =>
    elements.map((line) => (line.querySelector('.cm-placeholder') === null ? line.textContent : '')).join('\n'),
  );
}

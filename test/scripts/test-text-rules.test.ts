import { Linter } from 'eslint';
import { describe, expect, it } from 'vitest';

const { testTextRules } = (await import(new URL('../../eslint.test-texts.js', import.meta.url).href)) as {
  readonly testTextRules: (files: readonly string[], data?: readonly string[]) => Linter.Config[];
};
const rules = testTextRules(['**/*.js'], ['Mark as read']);

/** Returns the findings of the rule. */
function lint(code: string): readonly string[] {
  const findings = new Linter().verify(code, rules, { filename: 'code.js' });
  expect(findings.filter(({ fatal }) => fatal)).toEqual([]);
  return findings.map(({ message }) => message);
}

describe('rule against copied messages in tests of pages', () => {
  it.each([
    "page.getByText('Publish a message');",
    'page.getByText(`Publish a message`);',
    'page.getByText(/^Publish a message$/);',
    "page.getByRole('button', { name: 'Publish a message', exact: true });",
    "page.getByRole('listitem').filter({ hasText: 'Publish a message' });",
    "page.getByLabel('Send to').selectOption({ label: 'Publish a message' });",
    "getToast(page, 'Publish a message');",
    "expect(title).toBe('Publish a message');",
    'page.getByText(`Signed in as ${name}`);',
    "page.getByText('Signed in as ada');",
    'page.getByText(/^Signed in as .+$/);',
  ])('reports: %s', (code) => {
    expect(lint(code)).toHaveLength(1);
  });

  it('names the key of the message', () => {
    expect(lint("page.getByText('Signed in as ada');")).toEqual([expect.stringContaining('frame.signedInAsName')]);
  });

  it.each([
    'page.getByText(m.publishAMessage());',
    "page.getByText('Water the plants');",
    // One word can be the name of data, and a part of a text data with a message.
    "page.getByText('Settings');",
    "page.getByText('Publish a message about the harbour');",
    "publish('Publish a message');",
    "page.getByRole('button', { name: 'Mark as read' });",
  ])('allows: %s', (code) => {
    expect(lint(code)).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { formatMarkdown, type MarkdownFormat } from '../../renderer/src/pages/git/markdown/markdown-edits.ts';

/** Applies a format to a text whose selection is between `‹` and `›`, and returns the result in the same form. */
function format(name: MarkdownFormat, marked: string): string {
  const [start, end] = [marked.indexOf('‹'), marked.indexOf('›') - 1];
  const text = marked.replaceAll(/[‹›]/g, '');
  const edit = formatMarkdown(name, { text, start, end });
  const result = text.slice(0, edit.from) + edit.insert + text.slice(edit.to);
  return `${result.slice(0, edit.start)}‹${result.slice(edit.start, edit.end)}›${result.slice(edit.end)}`;
}

describe('formatting of Markdown', () => {
  it('surrounds the selection, and removes the markers when it is used again', () => {
    expect(format('bold', 'a ‹lamp› on')).toBe('a **‹lamp›** on');
    expect(format('bold', 'a **‹lamp›** on')).toBe('a ‹lamp› on');
    expect(format('italic', '‹›')).toBe('_‹›_');
  });

  it('formats all selected lines, and removes the format when it is used again', () => {
    expect(format('list', 'one\n‹two\nthree›\nfour')).toBe('one\n‹- two\n- three›\nfour');
    expect(format('numberedList', '‹a\nb›')).toBe('‹1. a\n2. b›');
    expect(format('taskList', '‹- [ ] a\n- [x] b›')).toBe('‹a\nb›');
    expect(format('quote', '‹> a\n> b›')).toBe('‹a\nb›');
  });

  it('keeps the caret at its place in the line', () => {
    expect(format('heading', 'Lamps‹›\n')).toBe('### Lamps‹›\n');
    expect(format('heading', '### Lamps‹›')).toBe('Lamps‹›');
  });

  it('puts several lines of code into a block', () => {
    expect(format('code', 'run ‹it›')).toBe('run `‹it›`');
    expect(format('code', 'run ‹a\nb›')).toBe('run \n```\n‹a\nb›\n```\n');
  });

  it('links the selected text, or uses a selected address as the target', () => {
    expect(format('link', '‹docs›')).toBe('[docs](‹https://›)');
    expect(format('link', '‹https://example.org›')).toBe('[‹›](https://example.org)');
  });

  it('separates mentions and references from the word before them', () => {
    expect(format('mention', 'ask‹›')).toBe('ask @‹›');
    expect(format('reference', 'see ‹›')).toBe('see #‹›');
  });
});

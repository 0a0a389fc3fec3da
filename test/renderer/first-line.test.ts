import { decodeHTML } from 'entities';
import { describe, expect, it } from 'vitest';
import { firstLine } from '../../renderer/src/parts/text/first-line.ts';

describe('first line of a message', () => {
  it.each([
    [
      '## 3 packages\n\n- kernel 6.1\n- samba 4\n\nTonight.',
      'markdown',
      '3 packages · kernel 6.1 · samba 4 · Tonight.',
    ],
    ['Disk full: /srv\n\n  files 18,204', 'text', 'Disk full: /srv · files 18,204'],
    ['A mail that is\nwrapped. Then\n- a\n- b', 'text', 'A mail that is wrapped. Then · a · b'],
    ['Total:\n1. one\n2. two', 'markdown', 'Total: 1. one · 2. two'],
    ['Backup done\r\n\r\n', 'text', 'Backup done'],
    ['Done\n\n---\n\nAll fine\n\n***\n', 'markdown', 'Done · All fine'],
    ['| a | b |\n|---|---|\n| 1 | 2 |', 'markdown', 'a b · 1 2'],
    ['<p>One &amp; two</p><p>three</p>', 'html', 'One & two three'],
    ['<p>Gr&uuml;&szlig;e&nbsp;&#8211; &amp;lt;b&gt; &#x1F600;</p>', 'html', 'Grüße – &lt;b> 😀'],
  ] as const)('keeps the parts of %j apart', (body, format, line) => {
    expect(firstLine({ body, format }, decodeHTML)).toBe(line);
  });
});

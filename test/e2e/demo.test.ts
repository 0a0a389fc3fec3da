import { expect, it } from 'vitest';
import { runDemo } from '../../scripts/demo.ts';

it('turns a mail into a push message and an inbox row, downloads a video and notifies about both', async () => {
  const lines: string[] = [];
  const { pushed, inbox, download, notice } = await runDemo((line) => lines.push(line));
  expect(pushed.title).toContain('Backup finished');
  expect(pushed.message).toContain('All 3 volumes were saved.');
  expect(inbox).toMatchObject({ title: pushed.title, source: 'mail' });
  expect(download.filename).toMatch(/^single.*\.mp4$/);
  expect(download.bytes).toBeGreaterThan(10_000);
  expect(notice.title).toBe('single');
  expect(lines.at(-1)).toMatch(/exit code 0/);
});

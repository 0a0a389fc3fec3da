import * as downloadsTexts from '#messages/downloads-texts';
import * as downloadsMessages from '#messages/downloads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { anyText, startingWith } from '../support/message-patterns.ts';
import { openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('Live streams', () => {
  let pages: Pages;
  beforeAll(async () => {
    pages = await openPages();
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  it('shows the recording, stops it with its file, and shows the start of a scheduled one', async () => {
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    await page.getByText(downloadsMessages.emptyTitle()).waitFor();
    pages.downloads.set('now', {
      title: 'Harbour live',
      state: 'downloading',
      live: true,
      activity: { kind: 'recording', seconds: 62, bytes: 12_300_000 },
    });
    pages.downloads.set('then', { title: 'Regatta', state: 'waiting', startsAt: Date.UTC(2027, 6, 1, 12) });
    await page.getByText(downloadsTexts.recording({ time: '1:02', size: '12.3' })).waitFor();
    await page.getByText(startingWith(downloadsMessages.beginsAt({ time: `${anyText}2027` }))).waitFor();
    await page.getByRole('button', { name: `${downloadsMessages.stopAndKeep()} Harbour live` }).waitFor();
    await page.getByRole('button', { name: `${downloadsMessages.stopAndKeep()} Harbour live` }).click();
    await page.getByText(downloadsMessages.downloadPaused()).waitFor();
    expect(visit.complaints).toEqual([]);
  });
});

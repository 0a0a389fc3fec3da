import * as desktopMessages from '#messages/desktop';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { watchClipboard } from '../../main/desktop/clipboard.ts';
import { findVideoLink } from '../../main/desktop/video-links.ts';
import type { Popup, PopupEvent } from '../../services/contracts/popups/desktop.ts';
import { createFakeClock } from '../support/clock.ts';

function rig(copied = '') {
  const state = { text: copied, reads: 0 };
  const clock = createFakeClock();
  const popups: { popup: Popup; notify: (event: PopupEvent) => void }[] = [];
  const opened: string[] = [];
  const watch = watchClipboard({
    clock,
    read: async () => {
      state.reads += 1;
      return await Promise.resolve(state.text);
    },
    notifier: { show: (popup, tell) => void popups.push({ popup, notify: tell }) },
    open: (path) => void opened.push(path),
    onError: (error) => {
      throw error;
    },
  });
  /** Resolves once the clipboard was read. */
  const copy = async (text: string): Promise<void> => {
    state.text = text;
    clock.advance(5000);
    await setImmediate();
  };
  return { state, popups, opened, watch, copy };
}

const video = 'https://www.youtube.com/watch?v=abc123&t=5';

describe('clipboard watcher', () => {
  it('offers a copied link once and opens the page with it on a click', async () => {
    const { watch, copy, popups, opened } = rig();
    using _watch = watch;
    watch.turn(true);
    await setImmediate();
    await copy(`  ${video}\n`);
    await copy(`  ${video}\n`);
    expect(popups.map(({ popup }) => [popup.title, popup.body])).toEqual([
      [desktopMessages.downloadVideo(), 'www.youtube.com/watch'],
    ]);
    expect(opened).toEqual([]);
    popups[0]?.notify('clicked');
    expect(opened).toEqual([`/downloads?add=${encodeURIComponent(video)}`]);
    await copy('https://vimeo.com/123456');
    popups[1]?.notify({ action: 'download' });
    popups[1]?.notify('closed');
    expect(opened).toHaveLength(2);
  });

  it('ignores links while disabled and links copied before', async () => {
    const { watch, copy, popups, state } = rig(video);
    using _watch = watch;
    await copy(video);
    expect(state.reads).toBe(0);
    watch.turn(true);
    await setImmediate();
    await copy(video);
    expect(popups).toEqual([]);
    watch.turn(false);
    const { reads } = state;
    await copy('https://vimeo.com/123456');
    expect([state.reads, popups.length]).toEqual([reads, 0]);
  });

  it.each([
    [video, true],
    ['https://youtu.be/abcdefghijk', true],
    ['https://cdn.example/film.MP4?token=1', true],
    ['https://x.com/someone/status/123', true],
    ['https://www.youtube.com/account', false],
    ['https://example.org/article', false],
    ['https://user:secret@cdn.example/film.mp4', false],
    [`look at ${video}`, false],
    ['file:///home/film.mp4', false],
    [`https://cdn.example/${'a'.repeat(5000)}.mp4`, false],
  ])('handles %s: %s', (text, is) => {
    expect(findVideoLink(text) !== undefined).toBe(is);
  });
});

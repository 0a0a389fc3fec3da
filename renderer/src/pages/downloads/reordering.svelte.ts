import { tick } from 'svelte';
import type { Download } from '../../../../services/contracts/downloads/api.ts';
import { getDownloadName } from '../../../../services/contracts/downloads/download-name.ts';
import { downloads } from './downloads.svelte.ts';
import { toasts } from '../../state/toasts.svelte.ts';

/** Within this many px of an edge, the list scrolls under a drag, by so many px a frame. */
const edge = 48;
const scrollStep = 9;
/** Of a phone's bar at the foot of the page, in px. */
const bar = 64;

/** A row on its way to another place: by mouse or finger with a line where it would go, by keyboard step by step. */
class Reordering {
  /** The rows on their way. */
  lifted = $state.raw<readonly string[]>([]);
  /** Where the line is: before the row of this index in the queue. */
  line = $state<number | null>(null);
  /** For the live region. */
  said = $state('');
  /** Brings a row of the queue, by its index, into sight. */
  reveal: (index: number) => void = () => undefined;
  #was: readonly string[] = [];
  #stop: (() => void) | undefined;

  /** Begins a drag on the handle of one of the queue, whose rows have one height; `uids` go with it. */
  drag(event: PointerEvent, { uid }: Download, uids: readonly string[]): void {
    const frame = (event.currentTarget as Element).closest<HTMLElement>('[role=group]');
    const row = (event.currentTarget as Element).closest<HTMLElement>('li');
    if (event.button !== 0 || frame === null || row === null || this.lifted.length > 0) return;
    event.preventDefault();
    const { top, height } = row.getBoundingClientRect();
    const at = downloads.queue.findIndex((each) => each.uid === uid);
    /** Of the queue's first row, in the list as far as it is scrolled. */
    const first = top - at * height - frame.getBoundingClientRect().top + frame.scrollTop;
    // A list that is as high as its rows goes with the page.
    const scrolls = frame.scrollHeight > frame.clientHeight + 1;
    const mover = scrolls ? frame : document.documentElement;
    let y = event.clientY;
    let frameRequest = 0;
    const place = (): void => {
      const box = frame.getBoundingClientRect();
      if (y < (scrolls ? box.top : 0) + edge) mover.scrollTop -= scrollStep;
      else if (y > (scrolls ? box.bottom : innerHeight - bar) - edge) mover.scrollTop += scrollStep;
      const index = Math.round((y - box.top + frame.scrollTop - first) / height);
      this.line = Math.max(0, Math.min(downloads.queue.length, index));
      frameRequest = requestAnimationFrame(place);
    };
    const controller = new AbortController();
    const { signal } = controller;
    this.#was = downloads.queue.map(({ uid }) => uid);
    this.lifted = uids;
    this.#stop = () => {
      cancelAnimationFrame(frameRequest);
      controller.abort();
    };
    const isOurs = (other: PointerEvent): boolean => other.pointerId === event.pointerId;
    addEventListener(
      'pointermove',
      (next) => {
        if (isOurs(next)) y = next.clientY;
      },
      { signal },
    );
    addEventListener(
      'pointerup',
      (next) => {
        if (isOurs(next)) this.#letGo();
      },
      { signal },
    );
    addEventListener('pointercancel', () => this.#end(), { signal });
    addEventListener(
      'keydown',
      (next) => {
        if (next.key === 'Escape') this.#end();
      },
      { signal, capture: true },
    );
    place();
  }

  /** Keys on a handle: Space lifts and puts down, arrows move, Escape puts back. */
  press(event: KeyboardEvent, download: Download): void {
    const { uid } = download;
    const up = this.lifted.includes(uid);
    if (event.key === ' ' || event.key === 'Enter') {
      if (up) this.#putDown(download);
      else this.#lift(download);
    } else if (up && event.key === 'Escape') {
      this.cancel();
      this.said = `${getDownloadName(download)} is back at its place.`;
      void this.#keepFocus(uid);
    } else if (up && ['ArrowUp', 'ArrowDown', 'Home', 'End'].includes(event.key)) {
      this.#step(download, event.key);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Puts everything back. */
  cancel(): void {
    if (this.lifted.length === 0) return;
    downloads.restore(this.#was);
    this.#end();
  }

  #lift(download: Download): void {
    this.cancel();
    this.#was = downloads.queue.map(({ uid }) => uid);
    this.lifted = [download.uid];
    this.said = `${getDownloadName(download)} is lifted, ${placeOf(download.uid)}. Arrow keys move it, Space puts it down, Escape puts it back.`;
  }

  #step({ uid }: Download, key: string): void {
    const { queue } = downloads;
    const index = queue.findIndex((row) => row.uid === uid);
    const target = { ArrowUp: index - 1, ArrowDown: index + 2, Home: 0, End: queue.length }[key] ?? index;
    if (target < 0 || target > queue.length) return;
    downloads.preview([uid], queue[target]?.uid ?? null);
    this.said = placeOf(uid);
    this.reveal(downloads.queue.findIndex((row) => row.uid === uid));
    void this.#keepFocus(uid);
  }

  #putDown(download: Download): void {
    const { queue } = downloads;
    const index = queue.findIndex(({ uid }) => uid === download.uid);
    this.said = `${getDownloadName(download)} is put down, ${placeOf(download.uid)}.`;
    this.#send([download.uid], queue[index + 1]?.uid ?? null, this.#was);
    this.#end();
    void this.#keepFocus(download.uid);
  }

  #letGo(): void {
    const { line, lifted } = this;
    this.#end();
    if (line === null) return;
    const { queue } = downloads;
    const before = queue.slice(line).find(({ uid }) => !lifted.includes(uid))?.uid ?? null;
    const was = queue.map(({ uid }) => uid);
    downloads.preview(lifted, before);
    if (downloads.queue.every(({ uid }, index) => uid === was[index])) return;
    this.said = `Moved, ${placeOf(lifted[0] ?? '')}.`;
    this.#send(lifted, before, was);
  }

  #send(uids: readonly string[], before: string | null, was: readonly string[]): void {
    downloads.move(uids, before, [...was]).catch((error: unknown) => {
      this.said = 'The order could not be changed.';
      toasts.showError(error);
    });
  }

  #end(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.lifted = [];
    this.line = null;
  }

  /** A row that changes its place in the page loses the keyboard. */
  async #keepFocus(uid: string): Promise<void> {
    await tick();
    document.querySelector<HTMLElement>(`[data-handle="${CSS.escape(uid)}"]`)?.focus();
  }
}

function placeOf(uid: string): string {
  const index = downloads.queue.findIndex((row) => row.uid === uid);
  return `place ${String(index + 1)} of ${String(downloads.queue.length)}`;
}

export const reordering = new Reordering();

import * as m from '#messages/downloads';
import { tick } from 'svelte';
import type { Download } from '../../../../../../services/contracts/downloads/api.ts';
import { getDownloadName } from '../../../../../../services/contracts/downloads/download-name.ts';
import { downloads } from '../../queue/downloads.svelte.ts';
import { toasts } from '../../../../state/toasts.svelte.ts';

/** Distance from the edge, in px, within which the list scrolls during a drag, and the step in px per frame. */
const scrollEdgePx = 48;
const scrollStepPx = 9;
/** Height of the navigation bar at the bottom of phones, in px. */
const bottomBarPx = 64;

/** Moves rows of the queue: by pointer with a line at the drop position, or by keyboard one step at a time. */
class Reordering {
  /** Rows that are being moved. */
  movingUids = $state.raw<readonly string[]>([]);
  /** Index of the queue row before which the rows would be dropped. */
  dropIndex = $state<number | null>(null);
  /** Text for the live region. */
  announcement = $state('');
  /** Scrolls to a row of the queue. */
  scrollToRow: (index: number) => void = () => undefined;
  #originalOrder: readonly string[] = [];
  #stop: (() => void) | undefined;

  /** Starts a drag on the handle of a row, which moves `uids`. All rows of the queue have the same height. */
  startDrag(event: PointerEvent, { uid }: Download, uids: readonly string[]): void {
    const frame = (event.currentTarget as Element).closest<HTMLElement>('[role=group]');
    const row = (event.currentTarget as Element).closest<HTMLElement>('li');
    if (event.button !== 0 || frame === null || row === null || this.movingUids.length > 0) return;
    event.preventDefault();
    const { top, height } = row.getBoundingClientRect();
    const rowIndex = downloads.queue.findIndex((each) => each.uid === uid);
    /** Offset of the first queue row from the top of the scrolled content, in px. */
    const firstRowTop = top - rowIndex * height - frame.getBoundingClientRect().top + frame.scrollTop;
    // A list as high as its rows does not scroll; the page does.
    const frameScrolls = frame.scrollHeight > frame.clientHeight + 1;
    const scroller = frameScrolls ? frame : document.documentElement;
    let y = event.clientY;
    let frameRequest = 0;
    const updateDropIndex = (): void => {
      const box = frame.getBoundingClientRect();
      if (y < (frameScrolls ? box.top : 0) + scrollEdgePx) scroller.scrollTop -= scrollStepPx;
      else if (y > (frameScrolls ? box.bottom : innerHeight - bottomBarPx) - scrollEdgePx)
        scroller.scrollTop += scrollStepPx;
      const index = Math.round((y - box.top + frame.scrollTop - firstRowTop) / height);
      this.dropIndex = Math.max(0, Math.min(downloads.queue.length, index));
      frameRequest = requestAnimationFrame(updateDropIndex);
    };
    const controller = new AbortController();
    const { signal } = controller;
    this.#originalOrder = downloads.queue.map(({ uid }) => uid);
    this.movingUids = uids;
    this.#stop = () => {
      cancelAnimationFrame(frameRequest);
      controller.abort();
    };
    const isSamePointer = (other: PointerEvent): boolean => other.pointerId === event.pointerId;
    addEventListener(
      'pointermove',
      (next) => {
        if (isSamePointer(next)) y = next.clientY;
      },
      { signal },
    );
    addEventListener(
      'pointerup',
      (next) => {
        if (isSamePointer(next)) this.#finishDrag();
      },
      { signal },
    );
    addEventListener('pointercancel', () => this.#reset(), { signal });
    addEventListener(
      'keydown',
      (next) => {
        if (next.key === 'Escape') this.#reset();
      },
      { signal, capture: true },
    );
    updateDropIndex();
  }

  /** Handles keys on a handle: Space starts and ends a move, arrows move the row, Escape cancels. */
  handleKey(event: KeyboardEvent, download: Download): void {
    const { uid } = download;
    const isMoving = this.movingUids.includes(uid);
    if (event.key === ' ' || event.key === 'Enter') {
      if (isMoving) this.#finishMove(download);
      else this.#startMove(download);
    } else if (isMoving && event.key === 'Escape') {
      this.cancel();
      this.announcement = m.moveCanceled({ name: getDownloadName(download) });
      void this.#restoreFocus(uid);
    } else if (isMoving && ['ArrowUp', 'ArrowDown', 'Home', 'End'].includes(event.key)) {
      this.#moveByKey(download, event.key);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Cancels the move and restores the order. */
  cancel(): void {
    if (this.movingUids.length === 0) return;
    downloads.restore(this.#originalOrder);
    this.#reset();
  }

  #startMove(download: Download): void {
    this.cancel();
    this.#originalOrder = downloads.queue.map(({ uid }) => uid);
    this.movingUids = [download.uid];
    this.announcement = m.lifted({ name: getDownloadName(download), ...getPosition(download.uid) });
  }

  #moveByKey({ uid }: Download, key: string): void {
    const { queue } = downloads;
    const index = queue.findIndex((row) => row.uid === uid);
    const target = { ArrowUp: index - 1, ArrowDown: index + 2, Home: 0, End: queue.length }[key] ?? index;
    if (target < 0 || target > queue.length) return;
    downloads.preview([uid], queue[target]?.uid ?? null);
    this.announcement = m.place(getPosition(uid));
    this.scrollToRow(downloads.queue.findIndex((row) => row.uid === uid));
    void this.#restoreFocus(uid);
  }

  #finishMove(download: Download): void {
    const { queue } = downloads;
    const index = queue.findIndex(({ uid }) => uid === download.uid);
    this.announcement = m.putDown({ name: getDownloadName(download), ...getPosition(download.uid) });
    this.#sendOrder([download.uid], queue[index + 1]?.uid ?? null, this.#originalOrder);
    this.#reset();
    void this.#restoreFocus(download.uid);
  }

  #finishDrag(): void {
    const { dropIndex: line, movingUids: lifted } = this;
    this.#reset();
    if (line === null) return;
    const { queue } = downloads;
    const before = queue.slice(line).find(({ uid }) => !lifted.includes(uid))?.uid ?? null;
    const previousOrder = queue.map(({ uid }) => uid);
    downloads.preview(lifted, before);
    if (downloads.queue.every(({ uid }, index) => uid === previousOrder[index])) return;
    this.announcement = m.moved(getPosition(lifted[0] ?? ''));
    this.#sendOrder(lifted, before, previousOrder);
  }

  #sendOrder(uids: readonly string[], before: string | null, previousOrder: readonly string[]): void {
    downloads.move(uids, before, [...previousOrder]).catch((error: unknown) => {
      this.announcement = m.moveFailed();
      toasts.showError(error);
    });
  }

  #reset(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.movingUids = [];
    this.dropIndex = null;
  }

  /** Returns the focus to the handle: a row that moves in the document loses it. */
  async #restoreFocus(uid: string): Promise<void> {
    await tick();
    document.querySelector<HTMLElement>(`[data-handle="${CSS.escape(uid)}"]`)?.focus();
  }
}

function getPosition(uid: string): { readonly place: number; readonly count: number } {
  const index = downloads.queue.findIndex((row) => row.uid === uid);
  return { place: index + 1, count: downloads.queue.length };
}

export const reordering = new Reordering();

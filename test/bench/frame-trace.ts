import type { Browser, Page } from 'playwright-core';

/** Name of the marks that a page sets at the start of each frame. */
export const frameMark = 'bench-frame';

/** Main-thread work of one frame, in ms. */
export interface FrameWork {
  readonly script: number;
  readonly layout: number;
  readonly paint: number;
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  /** Duration in µs, and the part of it that the thread had a processor. */
  readonly dur?: number;
  readonly tdur?: number;
}

/** Kinds of work by the names of trace events. Microtasks are part of the call that created them. */
const kinds: Readonly<Record<string, keyof FrameWork>> = {
  EventDispatch: 'script',
  FireAnimationFrame: 'script',
  FunctionCall: 'script',
  MajorGC: 'script',
  MinorGC: 'script',
  ParseHTML: 'script',
  RunMicrotasks: 'script',
  TimerFire: 'script',
  UpdateLayoutTree: 'layout',
  Layout: 'layout',
  PrePaint: 'paint',
  Paint: 'paint',
  Layerize: 'paint',
  UpdateLayer: 'paint',
  Commit: 'paint',
};

/** Traces the main thread of a page while `work` runs, and returns the work of each frame that it marked. */
export async function traceFrames(
  browser: Browser,
  page: Page,
  work: () => Promise<void>,
): Promise<readonly FrameWork[]> {
  await browser.startTracing(page, { categories: ['devtools.timeline', 'blink.user_timing'] });
  await work();
  const trace = JSON.parse((await browser.stopTracing()).toString('utf8')) as { traceEvents: TraceEvent[] };
  const marks = trace.traceEvents.filter(({ name }) => name === frameMark);
  const [first] = marks;
  if (first === undefined) throw new Error('the trace has no frames of the page');
  const events = trace.traceEvents.filter(({ pid, tid, ph }) => pid === first.pid && tid === first.tid && ph === 'X');
  return sumFrames(
    events,
    marks.map(({ ts }) => ts),
  );
}

/** Sums up the work of each frame. Work belongs to the last frame that began before it ended. */
function sumFrames(events: readonly TraceEvent[], frameStarts: readonly number[]): readonly FrameWork[] {
  const frames = frameStarts.map(() => ({ script: 0, layout: 0, paint: 0 }));
  const outer: TraceEvent[] = [];
  let task = 0;
  for (const event of events.toSorted((a, b) => a.ts - b.ts || (b.dur ?? 0) - (a.dur ?? 0))) {
    while (outer.length > 0 && getEnd(outer.at(-1)) <= event.ts) outer.pop();
    if (outer.length === 0) task = getEnd(event);
    const frame = frames[frameStarts.findLastIndex((start) => start <= task)];
    const kind = kinds[event.name];
    const outerKind = outer.map(({ name }) => kinds[name]).findLast((each) => each !== undefined);
    if (frame !== undefined && kind !== undefined) {
      const milliseconds = (event.tdur ?? event.dur ?? 0) / 1000;
      frame[kind] += milliseconds;
      // Such as a layout that a script needs for a measurement.
      if (outerKind !== undefined) frame[outerKind] -= milliseconds;
    }
    outer.push(event);
  }
  return frames;
}

function getEnd(event: TraceEvent | undefined): number {
  return (event?.ts ?? 0) + (event?.dur ?? 0);
}

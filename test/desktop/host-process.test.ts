import { describe, expect, it, vi } from 'vitest';
import { connectCalls, type MessageLine } from '../../main/desktop/calls.ts';
import type { HostAnswers, OpenedHost, ShellAnswers } from '../../main/desktop/host-line.ts';
import { superviseHostProcess, type HostChild } from '../../main/desktop/host-process.ts';
import { remoteNotifier } from '../../main/desktop/remote-notifier.ts';
import { emptyStatus } from '../../main/desktop/status.ts';
import type { PopupEvent } from '../../services/contracts/popups/desktop.ts';
import { createFakeClock } from '../support/clock.ts';

const facts: OpenedHost = {
  page: 'http://127.0.0.1:7700',
  problem: '',
  setup: null,
  session: null,
  status: emptyStatus,
};

/** Returns two ends of a connection; messages sent on one arrive on the other. */
function pair(): readonly [MessageLine, MessageLine] {
  const listeners: ((message: unknown) => void)[][] = [[], []];
  const end = (first: number, other: number): MessageLine => ({
    send: (message) => listeners[other]?.forEach((listener) => listener(structuredClone(message))),
    receive: (listener) => void listeners[first]?.push(listener),
  });
  return [end(0, 1), end(1, 0)];
}

/** Fake host process that the test controls. */
class Child implements HostChild {
  readonly line: MessageLine;
  readonly ask;
  killed = 0;
  frozen = false;
  stops = 0;
  #exit: () => void = () => undefined;
  constructor(stopMs: number) {
    const [shell, host] = pair();
    const frozen = (): Promise<never> | undefined => (this.frozen ? new Promise(() => undefined) : undefined);
    const answers: Partial<HostAnswers> = {
      alive: () => frozen() as undefined,
      stop: () => {
        this.stops += 1;
        return (frozen() as never) ?? stopMs;
      },
    };
    this.line = shell;
    this.ask = connectCalls<ShellAnswers>(host, answers as never).ask;
  }
  kill(): void {
    this.killed += 1;
    this.#exit();
  }
  onExit(listener: () => void): void {
    this.#exit = listener;
  }
}

function keep(stopMs = 4000) {
  const clock = createFakeClock();
  const children: Child[] = [];
  const notices: string[] = [];
  const process = superviseHostProcess({
    fork() {
      children.push(new Child(stopMs));
      return children.at(-1) as Child;
    },
    clock,
    answers: {} as never,
    opened: () => notices.push('opened'),
    refused: ({ reason }) => notices.push(`refused: ${reason}`),
    lost: () => notices.push('lost'),
    changed: (phase) => notices.push(phase),
  });
  const child = (): Child => children.at(-1) as Child;
  return { process, clock, children, child, told: notices };
}

describe('superviseHostProcess', () => {
  it('restarts the process after growing pauses and reports the loss once', async () => {
    const { process, clock, children, child, told: notices } = keep();
    await child().ask('opened', facts);
    expect(notices).toEqual(['starting', 'running', 'opened']);
    const pauses: number[] = [];
    for (let end = 0; end < 9; end += 1) {
      child().kill();
      expect(process.phase()).toBe('waiting');
      const [before, elapsed] = [children.length, clock.now()];
      while (children.length === before) clock.advance(500);
      pauses.push(clock.now() - elapsed);
    }
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(notices.filter((word) => word === 'lost')).toHaveLength(1);
  });

  it('resets the pause after a minute of running', async () => {
    const { process, clock, children, child, told: notices } = keep();
    await child().ask('opened', facts);
    child().kill();
    clock.advance(1000);
    await child().ask('opened', facts);
    clock.advance(60_000);
    child().kill();
    clock.advance(1000);
    expect(children).toHaveLength(3);
    expect(process.phase()).toBe('starting');
    expect(notices.filter((word) => word === 'lost')).toHaveLength(2);
  });

  it('gives up when the first start fails, and retries when it ran before', async () => {
    const first = keep();
    await first.child().ask('refused', { reason: 'The key is missing.', runningAt: null });
    first.child().kill();
    first.clock.advance(600_000);
    expect(first.told).toEqual(['starting', 'refused: The key is missing.']);
    expect(first.children).toHaveLength(1);

    const later = keep();
    await later.child().ask('opened', facts);
    later.child().kill();
    later.clock.advance(1000);
    await later.child().ask('refused', { reason: 'The disk is full.', runningAt: null });
    later.child().kill();
    expect(later.process.phase()).toBe('waiting');
    expect(later.process.reason()).toBe('The disk is full.');
    later.clock.advance(2000);
    await later.child().ask('opened', facts);
    expect(later.process.reason()).toBeNull();
  });

  it('detects an unresponsive process and its recovery, and restarts on request', async () => {
    const { process, clock, children, child } = keep();
    await child().ask('opened', facts);
    // Lets an answer arrive between two pings.
    const passes = async (ms: number): Promise<void> => {
      for (let elapsed = 0; elapsed < ms; elapsed += 1000) {
        clock.advance(1000);
        await Promise.resolve();
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await passes(60_000);
    expect(process.phase()).toBe('running');
    child().frozen = true;
    await passes(26_000);
    expect(process.phase()).toBe('silent');
    process.restart();
    expect(child().killed).toBe(1);
    clock.advance(1000);
    expect(children).toHaveLength(2);
    await child().ask('opened', facts);
    expect(process.phase()).toBe('running');
  });

  it('restarts without waiting on request', () => {
    const { process, clock, children, child } = keep();
    for (let end = 0; end < 6; end += 1) {
      child().kill();
      clock.advance(60_000);
    }
    child().kill();
    process.restart();
    expect(children).toHaveLength(8);
    expect(process.phase()).toBe('starting');
  });

  it('lets services end within the time limit they report', async () => {
    const { process, clock, child, told: notices } = keep(4000);
    const stopped = process[Symbol.asyncDispose]();
    await vi.waitFor(() => expect(child().stops).toBe(1));
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(3999);
    expect(child().killed).toBe(0);
    clock.advance(1);
    expect(child().killed).toBe(1);
    await stopped;
    clock.advance(600_000);
    expect(notices).toEqual(['starting', 'stopped']);
    await expect(process.ask('alive')).rejects.toThrow('do not run');
  });

  it('kills an unresponsive process', async () => {
    const { process, clock, child } = keep();
    child().frozen = true;
    const stopped = process[Symbol.asyncDispose]();
    clock.advance(5999);
    expect(child().killed).toBe(0);
    clock.advance(1);
    await stopped;
    expect(child().killed).toBe(1);
  });

  it('does not wait for a process that has already ended', async () => {
    const { process, clock, children, child } = keep();
    child().kill();
    await process[Symbol.asyncDispose]();
    clock.advance(600_000);
    process.restart();
    expect(children).toHaveLength(1);
  });
});

describe('connectCalls', () => {
  it('returns results and rejections to their callers in any order', async () => {
    const [here, there] = pair();
    const slow = Promise.withResolvers<string>();
    connectCalls(there, {
      slow: () => slow.promise,
      double: (value: number) => value * 2,
      refuse: () => {
        throw new Error('not today');
      },
    });
    type Theirs = { slow(): Promise<string>; double(value: number): number; refuse(): void };
    const { ask, close } = connectCalls<Theirs>(here, {});
    const late = ask('slow');
    expect(await ask('double', 21)).toBe(42);
    await expect(ask('refuse')).rejects.toThrow('not today');
    slow.resolve('at last');
    expect(await late).toBe('at last');
    const never = ask('slow');
    close();
    await expect(Promise.all([never, ask('double', 1)])).rejects.toThrow();
  });

  it('delivers the end of a popup to its owner and releases it', () => {
    const progress: number[] = [];
    const { notifier, handleEvent: notices } = remoteNotifier({
      show: ({ ticket }) => progress.push(ticket),
      close: () => progress.push(-1),
    });
    const popup = { id: 'a', title: 'A', body: '', urgency: 'normal', actions: [], silent: true, group: 'x' } as const;
    const popupEvents: PopupEvent[] = [];
    notifier.show(popup, (event) => popupEvents.push(event));
    notices(1, 'shown');
    notices(1, { action: 'read' });
    notices(1, 'closed');
    notices(1, 'clicked');
    expect(popupEvents).toEqual(['shown', { action: 'read' }, 'closed']);
    notifier.show(popup, (event) => popupEvents.push(event));
    for (let more = 0; more < 200; more += 1) notifier.show(popup, () => undefined);
    notices(2, 'clicked');
    expect(popupEvents).toHaveLength(3);
    expect(progress.at(-1)).toBe(202);
  });
});

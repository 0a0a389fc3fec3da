import * as m from '#messages/host-problems';
import type { Metrics } from '../../../services/contracts/metrics.ts';
import type { Clock, Log, Vault } from '../../../services/contracts/service.ts';
import type { Text } from '../../../services/contracts/text.ts';
import { getExponentialDelayMs } from '../../../services/kit/backoff.ts';
import { pauseFor } from '../../../services/kit/pause.ts';
import { ContentCodec, type Content } from './content.ts';
import { FrameReader, splitMessage, type Message } from './frames.ts';
import { Peers } from './peers.ts';
import { countRelay, type RelayCounters } from './relay-metrics.ts';
import type { Connection, Transport } from './transport.ts';

const beatMs = 5000;
/** Minimum time in ms between two notifications of lost events. */
const missedMs = 1000;
/** Interval in ms of reports of rejected messages. */
const reportMs = 60_000;
const backoff = { firstMs: 250, maxMs: 5000 } as const;
/** Failed connections after which a problem is reported, so that a short interruption is not. */
const reportedFailures = 3;
const firstConnectionTimeoutMs = 3000;

/** Receives what other hosts sent. */
export interface RelayListener {
  /** Receives an event of another host. */
  event(topic: string, data: unknown): void;
  /** Called when events of other hosts may have been lost. `connected`: later events arrive again. */
  missed(connected: boolean): void;
}

/** State of the exchange of events between hosts. */
export interface RelayState {
  readonly kind: Transport['kind'];
  readonly isConnected: boolean;
  /** Number of other hosts that are connected. */
  readonly otherHosts: number;
}

export interface RelayDependencies {
  readonly transport: Transport;
  /** Identifies this host since its start. It is never used again, since keys are derived from it. */
  readonly host: string;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * Sends events to the other hosts of the installation and receives theirs: each once, in the order of their sender.
 * Events can be lost with a connection; the listener is then notified, and reads what it needs from the database.
 */
export class Relay implements AsyncDisposable {
  readonly #dependencies: RelayDependencies;
  readonly #host: string;
  readonly #codec: ContentCodec;
  readonly #reader: FrameReader;
  readonly #peers = new Peers();
  readonly #counters: RelayCounters;
  readonly #stop = new AbortController();
  readonly #firstAttempt = Promise.withResolvers<void>();
  #connection: Connection | undefined;
  #listener: RelayListener | undefined;
  #running: Promise<void> | undefined;
  /** Number of the last message. */
  #number = 0;
  /** Number of the last event. */
  #event = 0;
  /** The database was read since the connection ended. */
  #hasPolled = false;
  #missedTimer: Disposable | undefined;
  /** Events were lost since the last notification. */
  #isMissedAgain = false;
  #failures = 0;
  #rejected = 0;
  #reportedAt = 0;
  #beats: Disposable | undefined;

  constructor(dependencies: RelayDependencies) {
    const { clock, host, metrics, vault } = dependencies;
    this.#dependencies = dependencies;
    this.#host = host;
    this.#codec = new ContentCodec(vault);
    this.#reader = new FrameReader(this.#host);
    this.#counters = countRelay(metrics, {
      isConnected: () => this.#connection !== undefined,
      countPeers: () => this.#peers.count(clock.now()),
    });
  }

  /** Starts the connection, and resolves when it is open or a first attempt took too long. */
  async start(): Promise<void> {
    const { clock } = this.#dependencies;
    this.#running = this.#run();
    const subscriptions = new DisposableStack();
    subscriptions.use(clock.every(beatMs, () => this.#beat()));
    subscriptions.use(clock.every(reportMs, () => this.#reportRejected()));
    this.#beats = subscriptions;
    const timeout = setTimeout(() => this.#firstAttempt.resolve(), firstConnectionTimeoutMs);
    await this.#firstAttempt.promise;
    clearTimeout(timeout);
  }

  /** Sets the receiver of events; at most one. */
  listen(listener: RelayListener): void {
    this.#listener = listener;
  }

  /** Sends an event to the other hosts. Without a connection it is lost, which they notice later. */
  send(topic: string, data: unknown): void {
    this.#event += 1;
    this.#send({ kind: 'event', event: this.#event, topic, data });
    this.#counters.sent.inc();
  }

  get state(): RelayState {
    const { clock, transport } = this.#dependencies;
    return {
      kind: transport.kind,
      isConnected: this.#connection !== undefined,
      otherHosts: this.#peers.count(clock.now()),
    };
  }

  /** Returns the reason why other hosts cannot be reached, or undefined. */
  getProblem(): Text | undefined {
    if (this.#connection !== undefined || this.#failures < reportedFailures) return undefined;
    return this.#dependencies.transport.kind === 'nats' ? m.natsUnavailable : m.listenUnavailable;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#beats?.[Symbol.dispose]();
    this.#missedTimer?.[Symbol.dispose]();
    this.#send({ kind: 'end', event: this.#event });
    this.#stop.abort();
    await this.#connection?.[Symbol.asyncDispose]();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, log, transport } = this.#dependencies;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        const connection = await transport.connect((frame) => this.#receive(frame));
        await this.#use(connection);
      } catch (error) {
        this.#failures += 1;
        if (this.#failures === 1 && !signal.aborted)
          log.warn('relay connection failed', { kind: transport.kind, error });
      }
      this.#firstAttempt.resolve();
      if (signal.aborted) return;
      await pauseFor(getExponentialDelayMs(backoff, Math.max(1, this.#failures)), clock, signal);
    }
  }

  /** Uses a connection until it ends. */
  async #use(connection: Connection): Promise<void> {
    const { log, transport } = this.#dependencies;
    if (this.#stop.signal.aborted) return connection[Symbol.asyncDispose]();
    this.#connection = connection;
    this.#failures = 0;
    log.info('relay connected', { kind: transport.kind });
    this.#requestNumbers();
    this.#firstAttempt.resolve();
    const error = await connection.closed;
    this.#connection = undefined;
    this.#reader.clear();
    if (!this.#stop.signal.aborted) log.warn('relay connection lost', { kind: transport.kind, error });
    await connection[Symbol.asyncDispose]();
  }

  /** Lets all known hosts send the number of their last event, which shows whether events were lost. */
  #requestNumbers(): void {
    const { clock } = this.#dependencies;
    this.#peers.renew(clock.now());
    this.#sendBeat({ requests: [...this.#peers.hosts, ...this.#peers.candidates] });
    // A host can have started and ended in the meantime.
    if (this.#hasPolled) this.#listener?.missed(false);
    this.#hasPolled = false;
  }

  #send(content: Content): void {
    if (this.#connection === undefined) return;
    this.#number += 1;
    const text = this.#codec.encode(content, this.#host, this.#number);
    const message = { host: this.#host, number: this.#number, text };
    const frames = splitMessage(message, this.#dependencies.transport.maxFrameLength);
    if (frames !== undefined) this.#connection.send(frames);
    // The other hosts notice the missing event immediately and read the database.
    else this.#sendBeat();
  }

  #sendBeat({ requests = [], answers = [] }: { readonly requests?: string[]; readonly answers?: string[] } = {}): void {
    this.#send({ kind: 'beat', event: this.#event, requests, answers });
  }

  /**
   * Lets the other hosts notice lost events, and notices the end of hosts. Without a connection, this host reads the
   * database instead.
   */
  #beat(): void {
    const hasEnded = this.#peers.removeEnded(this.#dependencies.clock.now());
    if (this.#connection === undefined) {
      this.#hasPolled = true;
      this.#listener?.missed(false);
      return;
    }
    if (hasEnded) this.#reportGap();
    this.#sendBeat({ requests: [...this.#peers.candidates] });
  }

  #receive(frame: string): void {
    const message = this.#reader.read(frame);
    if (message === 'malformed') this.#reject();
    if (typeof message === 'string') return;
    let content: Content | undefined;
    try {
      content = this.#codec.decode(message);
    } catch {
      this.#reject();
      return;
    }
    if (content !== undefined) this.#open(message, content);
  }

  #open({ host, number }: Message, content: Content): void {
    const { clock } = this.#dependencies;
    const { event, kind } = content;
    const isRequested = kind === 'beat' && content.requests.includes(this.#host);
    const isProof = isRequested || (kind === 'beat' && content.answers.includes(this.#host));
    const arrival = this.#peers.receive({ host, number, event, isEvent: kind === 'event', isProof }, clock.now());
    if (arrival === 'ignored') return;
    if (arrival === 'unproven') return this.#sendBeat({ requests: [host] });
    if (arrival === 'after gap') this.#reportGap();
    if (kind === 'end') return this.#peers.remove(host);
    if (isRequested) this.#sendBeat({ answers: [host] });
    if (kind !== 'event') return;
    this.#counters.received.inc();
    this.#listener?.event(content.topic, content.data);
  }

  #reportGap(): void {
    this.#counters.gaps.inc();
    this.#notifyMissed();
  }

  /** Notifies the listener of lost events, not more often than once per second. */
  #notifyMissed(): void {
    if (this.#missedTimer !== undefined) {
      this.#isMissedAgain = true;
      return;
    }
    this.#listener?.missed(true);
    this.#missedTimer = this.#dependencies.clock.after(missedMs, () => {
      this.#missedTimer = undefined;
      if (!this.#isMissedAgain) return;
      this.#isMissedAgain = false;
      this.#notifyMissed();
    });
  }

  /** Counts a message that was rejected, and reports the first ones immediately. */
  #reject(): void {
    this.#rejected += 1;
    this.#counters.rejected.inc();
    if (this.#dependencies.clock.now() - this.#reportedAt >= reportMs) this.#reportRejected();
  }

  #reportRejected(): void {
    if (this.#rejected === 0) return;
    this.#dependencies.log.warn('relay messages rejected', { count: this.#rejected });
    this.#reportedAt = this.#dependencies.clock.now();
    this.#rejected = 0;
  }
}

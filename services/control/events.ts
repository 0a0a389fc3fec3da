import * as m from '#messages/control-problems';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { eventsMissed } from '../contracts/bus.ts';
import { accessChanged } from '../contracts/control/access.ts';
import { accountsChanged, type Credentials, type Identity } from '../contracts/control/accounts.ts';
import { toVisibleEvent, resetEvent, type LiveTopic } from '../contracts/control/live.ts';
import { Problem } from '../contracts/problem.ts';
import { hostRights, type Rights } from '../contracts/route-access.ts';
import type { Context } from '../contracts/service.ts';
import { findSessionSecret } from '../contracts/session.ts';
import { markLongLived } from '../kit/http/long-lived-response.ts';
import { keepLanguage } from '../kit/language.ts';
import { startResponse } from '../kit/http/respond.ts';
import { EventRing } from './event-ring.ts';
import { eventFrame, idFrame, keepaliveFrame, retryFrame } from './sse-format.ts';

/** Limits of the live stream; tests use small ones. */
export interface LiveLimits {
  /** Maximum number of events kept for reconnecting pages. */
  readonly frames: number;
  readonly characters: number;
  /**
   * Maximum number of unsent bytes of a stream before it is closed; the page reconnects and resumes. Must exceed
   * `characters`, so that a resume fits.
   */
  readonly maxUnsentBytes: number;
  readonly streams: number;
  readonly keepaliveMs: number;
  /** Interval at which credentials are checked again, so that streams of expired sessions end. */
  readonly recheckMs: number;
  /** Interval at which pages reload their data while events of other hosts are lost. */
  readonly resetMs: number;
}

export const liveLimits: LiveLimits = {
  frames: 2000,
  characters: 512 * 1024,
  maxUnsentBytes: 1024 * 1024,
  streams: 200,
  keepaliveMs: 15_000,
  recheckMs: 60_000,
  resetMs: 30_000,
};

interface Stream {
  readonly response: ServerResponse;
  readonly credentials: Credentials;
  readonly identity: Identity;
  readonly rights: Rights;
  /** Runs work in the language of the page. */
  readonly inLanguage: ReturnType<typeof keepLanguage>;
  checkedAt: number;
}

/**
 * Serves `GET /api/events`: the live topics of the bus for every open page. The protocol is described in
 * contracts/live.ts.
 */
export class LiveEvents implements Disposable {
  readonly #context: Context;
  readonly #topics: readonly LiveTopic<unknown>[];
  readonly #limits: LiveLimits;
  readonly #ring: EventRing;
  readonly #streams = new Set<Stream>();
  readonly #open = new DisposableStack();
  #resetAt = 0;
  readonly #sent;
  readonly #disconnected;

  constructor(context: Context, topics: readonly LiveTopic<any>[], limits: LiveLimits) {
    this.#context = context;
    this.#topics = topics;
    this.#limits = limits;
    this.#ring = new EventRing(context.random.text(10), limits);
    this.#sent = context.metrics.counter({
      name: 'control_live_events_total',
      help: 'Events offered to open pages, by topic.',
      labels: ['topic'],
      initial: topics.map(({ topic }) => ({ topic: topic.name })),
    });
    this.#disconnected = context.metrics.counter({
      name: 'control_live_slow_streams_total',
      help: 'Streams that were cut off because their page did not read.',
      initial: [{}],
    });
    context.metrics.gauge({
      name: 'control_live_streams',
      help: 'Open live streams.',
      collect: () => this.#streams.size,
    });
  }

  /** Number of open pages. */
  get size(): number {
    return this.#streams.size;
  }

  start(): void {
    const { bus, clock } = this.#context;
    for (const live of this.#topics) {
      this.#open.use(bus.subscribe(live.topic, (event) => this.#broadcast(live, event)));
    }
    this.#open.use(
      bus.subscribe(accountsChanged, ({ account, onlyLanguage }) => {
        if (onlyLanguage !== true) void this.#accountChanged(account);
      }),
    );
    this.#open.use(bus.subscribe(eventsMissed, ({ connected }) => this.#reset(connected)));
    this.#open.use(clock.every(this.#limits.keepaliveMs, () => this.#keepAlive()));
  }

  /**
   * Responds with a stream that stays open.
   *
   * @throws Problem 401, 403, 405, or `control.too_many_streams` (503)
   */
  async connect(request: IncomingMessage, response: ServerResponse, query: URLSearchParams): Promise<void> {
    if (request.method !== 'GET') {
      throw new Problem('control.method', 405, m.readWithGet(), { headers: { Allow: 'GET' } });
    }
    const credentials: Credentials = {
      authorization: request.headers.authorization,
      session: findSessionSecret(request),
      ...this.#context.caller(request),
    };
    const identity = await this.#context.accounts.authenticate(credentials);
    if (!identity) throw new Problem('accounts.sign_in', 401, m.signInNeeded());
    if (identity.kind !== 'person' && identity.role !== 'admin') {
      throw new Problem('accounts.forbidden', 403, m.eventsRefused());
    }
    if (identity.limited === true) {
      throw new Problem('api.limited_token', 403, m.tokenLimited());
    }
    if (this.#streams.size >= this.#limits.streams) {
      throw new Problem('control.too_many_streams', 503, m.tooManyPages, {
        headers: { 'Retry-After': '30' },
      });
    }
    if (response.destroyed) return;
    const rights = this.#getRights(identity);
    this.#startStream(response, getLastEventId(request, query), rights);
    const stream: Stream = {
      response,
      credentials,
      identity,
      rights,
      inLanguage: keepLanguage(),
      checkedAt: this.#context.clock.now(),
    };
    this.#streams.add(stream);
    response.on('close', () => this.#streams.delete(stream));
  }

  /** Ends the streams of a session that was signed out. */
  endSession(identity: Identity): void {
    for (const stream of this.#streams) {
      const { account, credentialId } = stream.identity;
      if (account === identity.account && credentialId === identity.credentialId) stream.response.end();
    }
  }

  [Symbol.dispose](): void {
    this.#open.dispose();
    for (const stream of this.#streams) stream.response.end();
    this.#streams.clear();
  }

  #getRights(identity: Identity): Rights {
    const { accounts } = this.#context;
    return {
      all: identity.role === 'admin',
      may: (service, permission, resource) => accounts.may(identity, service, permission, resource),
    };
  }

  #startStream(response: ServerResponse, lastId: string | undefined, rights: Rights): void {
    markLongLived(response);
    startResponse(response, 200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Accel-Buffering': 'no',
    });
    const missed = lastId === undefined ? [idFrame(this.#ring.lastId)] : this.#ring.after(lastId, rights);
    response.write(retryFrame(2000));
    response.write(missed ? missed.join('') || keepaliveFrame : eventFrame(resetEvent, {}, this.#ring.lastId));
  }

  /** Lets pages reload their data after events of other hosts were lost, and regularly without a connection to them. */
  #reset(connected: boolean): void {
    const now = this.#context.clock.now();
    if (!connected && now - this.#resetAt < this.#limits.resetMs) return;
    this.#resetAt = now;
    this.#ring.clear();
    for (const stream of this.#streams) this.#send(stream, eventFrame(resetEvent, {}, this.#ring.lastId));
  }

  #broadcast(live: LiveTopic<unknown>, data: unknown): void {
    const { name } = live.topic;
    const frame = this.#ring.add(
      (id) => eventFrame(name, toVisibleEvent(live, data, hostRights), id),
      (id, rights, fullText) => {
        const part = toVisibleEvent(live, data, rights);
        if (part === undefined) return undefined;
        return part === data ? fullText : eventFrame(name, part, id);
      },
    );
    this.#sent.inc({ topic: name });
    for (const stream of this.#streams) {
      const text = stream.inLanguage(() => frame.getText(stream.rights));
      if (text !== undefined) this.#send(stream, text);
    }
  }

  #send({ response }: Stream, text: string): void {
    if (response.writableEnded || response.destroyed) return;
    if (response.writableLength > this.#limits.maxUnsentBytes) {
      this.#disconnected.inc();
      response.destroy();
      return;
    }
    response.write(text);
  }

  #keepAlive(): void {
    const now = this.#context.clock.now();
    for (const stream of this.#streams) {
      // Clients that do not receive every event still receive the current id; otherwise they would resume with an id
      // that is no longer stored.
      this.#send(stream, stream.rights.all ? keepaliveFrame : idFrame(this.#ring.lastId));
      if (now - stream.checkedAt >= this.#limits.recheckMs) void this.#recheck(stream);
    }
  }

  /** Closes streams that lost access before other pages are notified. */
  async #accountChanged(account: string): Promise<void> {
    const streams = [...this.#streams].filter(({ identity }) => identity.account === account);
    await Promise.all(streams.map((stream) => this.#recheck(stream)));
    this.#context.bus.publish(accessChanged, {});
  }

  /** Ends the stream unless its credentials still belong to the same account and role. */
  async #recheck(stream: Stream): Promise<void> {
    stream.checkedAt = this.#context.clock.now();
    try {
      const identity = await this.#context.accounts.authenticate(stream.credentials);
      if (identity?.account === stream.identity.account && identity.role === stream.identity.role) return;
    } catch (error) {
      // Refused credentials are expected: the page requests a new sign-in. Other errors are logged.
      if (!(error instanceof Problem)) this.#context.log.error('live stream authentication failed', { error });
    }
    stream.response.end();
  }
}

/** Returns the last event id from the header sent by EventSource, or from the query for clients that cannot set it. */
function getLastEventId(request: IncomingMessage, query: URLSearchParams): string | undefined {
  const header = request.headers['last-event-id'];
  return (Array.isArray(header) ? header[0] : header) ?? query.get('lastEventId') ?? undefined;
}

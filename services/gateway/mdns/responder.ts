import type { RemoteInfo } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import type { Answer, Packet } from 'dns-packet';
import type { Clock, Log } from '../../contracts/service.ts';
import { RateLimit } from '../sign-in/rate-limiter.ts';
import { answersTo, claimedByOthers, flushed, buildRecords, type Announced } from './answers.ts';
import { MulticastSocket } from './socket.ts';

/** Maximum size that is not fragmented. */
const maxRecords = 12;
const probes = 3;
const betweenProbes = 250;
const betweenAnnouncements = 1000;
/** Interval after which a conflicting name is probed again. */
const askAgain = 10 * 60_000;
/** Maximum TTL in answers to legacy queries (RFC 6762, section 6.7). */
const legacyTtl = 10;

/** DNS message with its destination. */
export interface Announcing extends Announced {
  readonly addresses: readonly string[];
}

interface ResponderParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly port: () => number;
  /** Number of recipients. */
  readonly accepts: (address: string) => boolean;
  /** Called when name conflicts changed. */
  readonly changed: () => void;
}

/** Multicast DNS responder (RFC 6762) for the names of this computer. */
export class Responder implements AsyncDisposable {
  readonly #parts: ResponderParts;
  readonly #rate: RateLimit;
  /** Conflicting names with the other address and the time of detection. */
  readonly #conflicts = new Map<string, { readonly by: string; readonly at: number }>();
  #socket: MulticastSocket | undefined;
  #addresses: readonly string[] = [];
  #announced: Announced = { names: [], services: [] };
  #records: readonly Answer[] = [];
  /** Names that are being probed. */
  #probing: readonly string[] = [];
  #now = '';
  #problem = '';

  constructor(parts: ResponderParts) {
    this.#parts = parts;
    this.#rate = new RateLimit(parts.clock, { burst: 120, perSecond: 40 });
  }

  /** Names that are announced. */
  get names(): readonly string[] {
    return this.#announced.names.filter((name) => !this.#probing.includes(name) && !this.#conflicts.has(name));
  }

  get problems(): readonly string[] {
    const taken = [...this.#conflicts]
      .filter(([name]) => this.#announced.names.includes(name))
      .map(
        ([name, { by }]) =>
          `Another machine of the network, ${by}, is called ${name}. Choose another name in the settings.`,
      );
    return this.#problem === '' ? taken : [this.#problem, ...taken];
  }

  /** Replaces the announcement; undefined withdraws it. Calls must not overlap. */
  async become(wanted: Announcing | undefined): Promise<void> {
    const { clock } = this.#parts;
    for (const [name, { at }] of this.#conflicts) if (clock.now() - at > askAgain) this.#conflicts.delete(name);
    const key = wanted === undefined ? '' : JSON.stringify([this.#parts.port(), wanted, [...this.#conflicts.keys()]]);
    if (key === this.#now && this.#problem === '') return;
    this.#now = key;
    const names = wanted?.names ?? [];
    const before = this.#records;
    const known = this.names;
    const next = wanted === undefined ? [] : this.#free(buildRecords(wanted, wanted.addresses));
    const isSame = wanted !== undefined && JSON.stringify(wanted.addresses) === JSON.stringify(this.#addresses);
    await this.#tell(
      before.filter((each) => !next.some((other) => JSON.stringify(other) === JSON.stringify(each))),
      0,
    );
    this.#records = [];
    if (!isSame || this.#socket === undefined) await this.#close();
    this.#addresses = wanted?.addresses ?? [];
    this.#announced = wanted ?? { names: [], services: [] };
    if (wanted === undefined || !(await this.#open())) return;
    this.#probing = names.filter((name) => !isSame || !known.includes(name));
    this.#records = next;
    this.#probe(key, 1);
  }

  /** Probes the names and announces those that are free. */
  #probe(key: string, turn: number): void {
    const { clock } = this.#parts;
    if (this.#now !== key) return;
    const isAsking = this.#probing.length > 0 && turn <= probes;
    if (isAsking) {
      const questions = this.#probing.map((name) => ({ name, type: 'ANY' as never }));
      const authorities = this.#records.filter(({ name, type }) => this.#probing.includes(name) && type !== 'NSEC');
      void this.#socket?.tell({ type: 'query', questions, authorities });
      clock.after(betweenProbes, () => this.#probe(key, turn + 1));
      return;
    }
    this.#probing = [];
    this.#records = this.#free(this.#records);
    void this.#tell(this.#records);
    clock.after(betweenAnnouncements, () => {
      if (this.#now === key) void this.#tell(this.#records);
    });
    this.#parts.changed();
  }

  /** Returns the announcement without conflicting names. */
  #free(records: readonly Answer[]): Answer[] {
    return records.filter(
      (each) => !this.#conflicts.has(each.name) && !(each.type === 'SRV' && this.#conflicts.has(each.data.target)),
    );
  }

  async #tell(records: readonly Answer[], ttl?: number): Promise<void> {
    const told = flushed(ttl === undefined ? records : records.map((each) => ({ ...each, ttl }) as Answer));
    for (let from = 0; from < told.length; from += maxRecords) {
      await this.#socket?.tell({
        type: 'response',
        flags: authoritative,
        answers: told.slice(from, from + maxRecords),
      });
    }
  }

  readonly #hear = (packet: Packet, from: RemoteInfo): void => {
    const { accepts, port, clock } = this.#parts;
    if (!accepts(from.address)) return;
    this.#lookForOthers(packet);
    if (packet.type !== 'query' || !this.#rate.take(from.address)) return;
    const records = this.#records.filter(({ name }) => !this.#probing.includes(name));
    const { answers, additionals } = answersTo(packet, records);
    if (answers.length === 0) return;
    const response: Packet = { type: 'response', flags: authoritative };
    if (from.port === port()) {
      // Known answers of truncated queries arrive in further packets; ours are short.
      clock.after(
        0,
        () => void this.#socket?.tell({ ...response, answers: flushed(answers), additionals: flushed(additionals) }),
      );
      return;
    }
    const short = (all: Answer[]): Answer[] => all.map((each) => ({ ...each, ttl: legacyTtl }) as Answer);
    const { id, questions } = packet;
    const echo: Packet = {
      ...response,
      ...(id === undefined ? {} : { id }),
      ...(questions === undefined ? {} : { questions }),
    };
    void this.#socket?.reply({ ...echo, answers: short(answers), additionals: short(additionals) }, from);
  };

  /** Resolves conflicts: an established name wins, and between simultaneous probes the greater address. */
  #lookForOthers(packet: Packet): void {
    const own = [
      ...this.#addresses,
      ...Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address)),
    ];
    for (const { name, by } of claimedByOthers(packet, this.#announced.names, own)) {
      // A probe for an established name is answered.
      const isAsking = packet.type === 'query';
      if (isAsking && !(this.#probing.includes(name) && this.#addresses.every((address) => address < by))) continue;
      if (this.#conflicts.has(name)) continue;
      this.#conflicts.set(name, { by, at: this.#parts.clock.now() });
      this.#parts.log.warn('multicast DNS name conflict detected', { name, by });
      this.#probing = this.#probing.filter((each) => each !== name);
      this.#records = this.#free(this.#records);
      this.#parts.changed();
    }
  }

  async #open(): Promise<boolean> {
    if (this.#socket !== undefined) return true;
    try {
      this.#socket = await MulticastSocket.open({
        port: this.#parts.port(),
        addresses: this.#addresses.filter((address) => !address.includes(':')),
        heard: this.#hear,
        failed: (error) => this.#parts.log.warn('multicast DNS socket failed', { error }),
      });
      this.#problem = '';
      return true;
    } catch (error) {
      if (this.#problem === '') this.#parts.log.warn('multicast DNS announcement failed', { error });
      this.#problem = 'The names cannot be announced on this network; addresses work all the same.';
      return false;
    }
  }

  async #close(): Promise<void> {
    const socket = this.#socket;
    this.#socket = undefined;
    await socket?.[Symbol.asyncDispose]();
  }

  /** Withdraws the names with a TTL of 0. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.become(undefined);
    await this.#close();
  }
}

/** Header bit for authoritative answers. */
const authoritative = 0x0400;

import * as m from '#messages/gateway-problems';
import type { RemoteInfo } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import type { Answer, Packet } from 'dns-packet';
import type { Clock, Log } from '../../contracts/service.ts';
import type { Text } from '../../contracts/text.ts';
import { findAnswers, findConflicts, withFlushBit, buildRecords, type AnnouncedNames } from './answers.ts';
import { MulticastSocket } from './socket.ts';
import { RateLimiter } from '../../kit/rate-limiter.ts';

/** Maximum size that is not fragmented. */
const maxRecords = 12;
const probeCount = 3;
const probeIntervalMs = 250;
const announcementIntervalMs = 1000;
/** Interval after which a conflicting name is probed again. */
const conflictRetryMs = 10 * 60_000;
/** Maximum TTL in answers to legacy queries (RFC 6762, section 6.7). */
const legacyTtl = 10;

/** DNS message with its destination. */
export interface Announcement extends AnnouncedNames {
  readonly addresses: readonly string[];
}

interface ResponderDependencies {
  readonly clock: Clock;
  readonly log: Log;
  readonly port: () => number;
  /** Number of recipients. */
  readonly accepts: (address: string) => boolean;
  /** Called when name conflicts changed. */
  readonly onChange: () => void;
}

/** Multicast DNS responder (RFC 6762) for the names of this computer. */
export class Responder implements AsyncDisposable {
  readonly #deps: ResponderDependencies;
  readonly #rate: RateLimiter;
  /** Conflicting names with the other address and the time of detection. */
  readonly #conflicts = new Map<string, { readonly otherAddress: string; readonly detectedAt: number }>();
  #socket: MulticastSocket | undefined;
  #addresses: readonly string[] = [];
  #announcement: AnnouncedNames = { names: [], services: [] };
  #records: readonly Answer[] = [];
  /** Names that are being probed. */
  #probing: readonly string[] = [];
  #currentKey = '';
  #problem: Text | undefined;

  constructor(deps: ResponderDependencies) {
    this.#deps = deps;
    this.#rate = new RateLimiter(deps.clock, { capacity: 120, drainMs: 25 });
  }

  /** Names that are announced. */
  get names(): readonly string[] {
    return this.#announcement.names.filter((name) => !this.#probing.includes(name) && !this.#conflicts.has(name));
  }

  get problems(): readonly Text[] {
    const conflictMessages = [...this.#conflicts]
      .filter(([name]) => this.#announcement.names.includes(name))
      .map(
        ([name, { otherAddress }]) =>
          () =>
            m.nameConflict({ address: otherAddress, name }),
      );
    return this.#problem === undefined ? conflictMessages : [this.#problem, ...conflictMessages];
  }

  /** Replaces the announcement; undefined withdraws it. Calls must not overlap. */
  async update(announcement: Announcement | undefined): Promise<void> {
    const { clock } = this.#deps;
    for (const [name, { detectedAt }] of this.#conflicts)
      if (clock.now() - detectedAt > conflictRetryMs) this.#conflicts.delete(name);
    const key =
      announcement === undefined ? '' : JSON.stringify([this.#deps.port(), announcement, [...this.#conflicts.keys()]]);
    if (key === this.#currentKey && this.#problem === undefined) return;
    this.#currentKey = key;
    const names = announcement?.names ?? [];
    const formerRecords = this.#records;
    const announcedNames = this.names;
    const next =
      announcement === undefined ? [] : this.#withoutConflicts(buildRecords(announcement, announcement.addresses));
    const isUnchanged =
      announcement !== undefined && JSON.stringify(announcement.addresses) === JSON.stringify(this.#addresses);
    await this.#send(
      formerRecords.filter((each) => !next.some((other) => JSON.stringify(other) === JSON.stringify(each))),
      0,
    );
    this.#records = [];
    if (!isUnchanged || this.#socket === undefined) await this.#close();
    this.#addresses = announcement?.addresses ?? [];
    this.#announcement = announcement ?? { names: [], services: [] };
    if (announcement === undefined || !(await this.#open())) return;
    this.#probing = names.filter((name) => !isUnchanged || !announcedNames.includes(name));
    this.#records = next;
    this.#probe(key, 1);
  }

  /** Probes the names and announces those that are free. */
  #probe(key: string, attempt: number): void {
    const { clock } = this.#deps;
    if (this.#currentKey !== key) return;
    const isProbe = this.#probing.length > 0 && attempt <= probeCount;
    if (isProbe) {
      const questions = this.#probing.map((name) => ({ name, type: 'ANY' as never }));
      const authorities = this.#records.filter(({ name, type }) => this.#probing.includes(name) && type !== 'NSEC');
      void this.#socket?.multicast({ type: 'query', questions, authorities });
      clock.after(probeIntervalMs, () => this.#probe(key, attempt + 1));
      return;
    }
    this.#probing = [];
    this.#records = this.#withoutConflicts(this.#records);
    void this.#send(this.#records);
    clock.after(announcementIntervalMs, () => {
      if (this.#currentKey === key) void this.#send(this.#records);
    });
    this.#deps.onChange();
  }

  /** Returns the announcement without conflicting names. */
  #withoutConflicts(records: readonly Answer[]): Answer[] {
    return records.filter(
      (each) => !this.#conflicts.has(each.name) && !(each.type === 'SRV' && this.#conflicts.has(each.data.target)),
    );
  }

  async #send(records: readonly Answer[], ttl?: number): Promise<void> {
    const announced = withFlushBit(ttl === undefined ? records : records.map((each) => ({ ...each, ttl }) as Answer));
    for (let start = 0; start < announced.length; start += maxRecords) {
      await this.#socket?.multicast({
        type: 'response',
        flags: authoritativeFlag,
        answers: announced.slice(start, start + maxRecords),
      });
    }
  }

  readonly #handlePacket = (packet: Packet, source: RemoteInfo): void => {
    const { accepts, port, clock } = this.#deps;
    if (!accepts(source.address)) return;
    this.#detectConflicts(packet);
    if (packet.type !== 'query' || !this.#rate.take(source.address)) return;
    const records = this.#records.filter(({ name }) => !this.#probing.includes(name));
    const { answers, additionals } = findAnswers(packet, records);
    if (answers.length === 0) return;
    const response: Packet = { type: 'response', flags: authoritativeFlag };
    if (source.port === port()) {
      // Known answers of truncated queries arrive in further packets; ours are short.
      clock.after(
        0,
        () =>
          void this.#socket?.multicast({
            ...response,
            answers: withFlushBit(answers),
            additionals: withFlushBit(additionals),
          }),
      );
      return;
    }
    const withLegacyTtl = (all: Answer[]): Answer[] => all.map((each) => ({ ...each, ttl: legacyTtl }) as Answer);
    const { id, questions } = packet;
    const legacyResponse: Packet = {
      ...response,
      ...(id === undefined ? {} : { id }),
      ...(questions === undefined ? {} : { questions }),
    };
    void this.#socket?.reply(
      { ...legacyResponse, answers: withLegacyTtl(answers), additionals: withLegacyTtl(additionals) },
      source,
    );
  };

  /** Resolves conflicts: an established name wins, and between simultaneous probes the greater address. */
  #detectConflicts(packet: Packet): void {
    const ownAddresses = [
      ...this.#addresses,
      ...Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address)),
    ];
    for (const { name, by } of findConflicts(packet, this.#announcement.names, ownAddresses)) {
      // A probe for an established name is answered.
      const isProbe = packet.type === 'query';
      if (isProbe && !(this.#probing.includes(name) && this.#addresses.every((address) => address < by))) continue;
      if (this.#conflicts.has(name)) continue;
      this.#conflicts.set(name, { otherAddress: by, detectedAt: this.#deps.clock.now() });
      this.#deps.log.warn('multicast DNS name conflict detected', { name, by });
      this.#probing = this.#probing.filter((each) => each !== name);
      this.#records = this.#withoutConflicts(this.#records);
      this.#deps.onChange();
    }
  }

  async #open(): Promise<boolean> {
    if (this.#socket !== undefined) return true;
    try {
      this.#socket = await MulticastSocket.open({
        port: this.#deps.port(),
        addresses: this.#addresses.filter((address) => !address.includes(':')),
        onPacket: this.#handlePacket,
        onError: (error) => this.#deps.log.warn('multicast DNS socket failed', { error }),
      });
      this.#problem = undefined;
      return true;
    } catch (error) {
      if (this.#problem === undefined) this.#deps.log.warn('multicast DNS announcement failed', { error });
      this.#problem = m.announcementFailed;
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
    await this.update(undefined);
    await this.#close();
  }
}

/** Header bit for authoritative answers. */
const authoritativeFlag = 0x0400;

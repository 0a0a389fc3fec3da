import type { RemoteInfo } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import type { Answer, Packet } from 'dns-packet';
import type { Clock, Log } from '../../contracts/service.ts';
import { RateLimit } from '../sign-in/rate.ts';
import { answersTo, claimedByOthers, flushed, recordsOf, type Announced } from './answers.ts';
import { MulticastSocket } from './socket.ts';

/** In one packet, so that it goes over the wire whole. */
const mostRecords = 12;
const probes = 3;
const betweenProbes = 250;
const betweenAnnouncements = 1000;
/** A name that another machine has is asked for again after this time. */
const askAgain = 10 * 60_000;
/** Who asks from another port than that of multicast DNS keeps what it gets for ten seconds at most: RFC 6762. */
const legacyTtl = 10;

/** What is told to whom. */
export interface Announcing extends Announced {
  readonly addresses: readonly string[];
}

interface ResponderParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly port: () => number;
  /** Machines that are told anything. */
  readonly accepts: (address: string) => boolean;
  /** Called when it has found something out that people should know. */
  readonly changed: () => void;
}

/** Tells the network which addresses belong to the names of this machine, unless another machine has them. */
export class Responder implements AsyncDisposable {
  readonly #parts: ResponderParts;
  readonly #rate: RateLimit;
  /** Names that another machine has: its address, and since when that is known. */
  readonly #taken = new Map<string, { readonly by: string; readonly at: number }>();
  #socket: MulticastSocket | undefined;
  #addresses: readonly string[] = [];
  #announced: Announced = { names: [], services: [] };
  #records: readonly Answer[] = [];
  /** Names that are asked for before they are used, to see whether somebody has them. */
  #probing: readonly string[] = [];
  #now = '';
  #trouble = '';

  constructor(parts: ResponderParts) {
    this.#parts = parts;
    this.#rate = new RateLimit(parts.clock, { burst: 120, perSecond: 40 });
  }

  /** Names that others can ask for now. */
  get names(): readonly string[] {
    return this.#announced.names.filter((name) => !this.#probing.includes(name) && !this.#taken.has(name));
  }

  get problems(): readonly string[] {
    const taken = [...this.#taken]
      .filter(([name]) => this.#announced.names.includes(name))
      .map(
        ([name, { by }]) =>
          `Another machine of the network, ${by}, is called ${name}. Choose another name in the settings.`,
      );
    return this.#trouble === '' ? taken : [this.#trouble, ...taken];
  }

  /** Takes over what is announced from now on; undefined: nothing. Call it in turn. */
  async become(wanted: Announcing | undefined): Promise<void> {
    const { clock } = this.#parts;
    for (const [name, { at }] of this.#taken) if (clock.now() - at > askAgain) this.#taken.delete(name);
    const key = wanted === undefined ? '' : JSON.stringify([this.#parts.port(), wanted, [...this.#taken.keys()]]);
    if (key === this.#now && this.#trouble === '') return;
    this.#now = key;
    const names = wanted?.names ?? [];
    const before = this.#records;
    const known = this.names;
    const next = wanted === undefined ? [] : this.#free(recordsOf(wanted, wanted.addresses));
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

  /** Asks whether somebody has the names, and then tells everybody that they are ours. */
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

  /** Without what belongs to names that another machine has. */
  #free(records: readonly Answer[]): Answer[] {
    return records.filter(
      (each) => !this.#taken.has(each.name) && !(each.type === 'SRV' && this.#taken.has(each.data.target)),
    );
  }

  async #tell(records: readonly Answer[], ttl?: number): Promise<void> {
    const told = flushed(ttl === undefined ? records : records.map((each) => ({ ...each, ttl }) as Answer));
    for (let from = 0; from < told.length; from += mostRecords) {
      await this.#socket?.tell({
        type: 'response',
        flags: authoritative,
        answers: told.slice(from, from + mostRecords),
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
      // A query that says what else is known of the answer goes on in a further packet; here it is short.
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

  /** Another machine that has one of our names keeps it; of two that ask at one time the one with the greater address. */
  #lookForOthers(packet: Packet): void {
    const own = [
      ...this.#addresses,
      ...Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address)),
    ];
    for (const { name, by } of claimedByOthers(packet, this.#announced.names, own)) {
      // It asks for what is ours already, and is answered.
      const isAsking = packet.type === 'query';
      if (isAsking && !(this.#probing.includes(name) && this.#addresses.every((address) => address < by))) continue;
      if (this.#taken.has(name)) continue;
      this.#taken.set(name, { by, at: this.#parts.clock.now() });
      this.#parts.log.warn('a name on the network belongs to another machine', { name, by });
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
        failed: (error) => this.#parts.log.warn('multicast DNS failed', { error }),
      });
      this.#trouble = '';
      return true;
    } catch (error) {
      if (this.#trouble === '') this.#parts.log.warn('names cannot be announced on the network', { error });
      this.#trouble = 'The names cannot be announced on this network; addresses work all the same.';
      return false;
    }
  }

  async #close(): Promise<void> {
    const socket = this.#socket;
    this.#socket = undefined;
    await socket?.[Symbol.asyncDispose]();
  }

  /** Tells everybody to forget the names. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.become(undefined);
    await this.#close();
  }
}

/** The bit of the header that says that who answers has the name. */
const authoritative = 0x0400;

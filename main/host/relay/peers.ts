import { LruMap } from '../../../services/kit/lru-map.ts';

/** Numbers that a host has used. */
interface Numbers {
  /** Number of the last message. */
  message: number;
  /** Number of the last event. */
  event: number;
}

interface Peer extends Numbers {
  seenAt: number;
}

/** Host that has not proved yet that it is running. */
interface Candidate {
  readonly seenAt: number;
  requestedAt: number;
}

/** Message of another host for {@link Peers.receive}. */
export interface PeerMessage {
  readonly host: string;
  readonly number: number;
  /** Number of the event, or of the last one before a message without an event. */
  readonly event: number;
  readonly isEvent: boolean;
  /** The message contains the id of this host, so it was sent after this host started. */
  readonly isProof: boolean;
}

/** Time in ms without a message after which a host counts as ended. */
const peerTimeoutMs = 20_000;
/** Minimum time in ms between two requests for a proof. */
const requestMs = 1000;
const maxPeers = 1000;
const maxFormer = 10_000;

/**
 * Result of a message: it is new or follows events that were lost; or it must be ignored because it was received
 * before or its host has not proved that it is running, which must be requested when it was not recently.
 */
export type Arrival = 'new' | 'after gap' | 'ignored' | 'unproven';

/**
 * Other hosts with the numbers of their messages. A host counts only after a message that contains the id of this host:
 * recorded messages of a host that has ended cannot be sent to a host that starts later. Numbers of hosts that have
 * ended are kept, so that their messages cannot be repeated either.
 */
export class Peers {
  readonly #peers = new Map<string, Peer>();
  readonly #candidates = new Map<string, Candidate>();
  readonly #former = new LruMap<string, Numbers>(maxFormer);

  /** Returns the number of hosts from which messages arrived recently. */
  count(now: number): number {
    return [...this.#peers.values()].filter(({ seenAt }) => now - seenAt <= peerTimeoutMs).length;
  }

  /** Returns the hosts that must still prove that they are running. */
  get candidates(): readonly string[] {
    return [...this.#candidates.keys()];
  }

  /** Returns the running hosts. */
  get hosts(): readonly string[] {
    return [...this.#peers.keys()];
  }

  /** Records a message and returns how it follows the previous ones. */
  receive({ host, number, event, isEvent, isProof }: PeerMessage, now: number): Arrival {
    const existing = this.#peers.get(host);
    const last = existing ?? this.#former.get(host);
    if (last !== undefined && number <= last.message) return 'ignored';
    if (existing === undefined && !isProof) return this.#addCandidate(host, now) ? 'unproven' : 'ignored';
    this.#candidates.delete(host);
    // Events of a new host that were sent before may have been lost.
    const previous = last?.event ?? 0;
    if (existing !== undefined || this.#peers.size < maxPeers)
      this.#peers.set(host, { message: number, event, seenAt: now });
    return event === previous + Number(isEvent) ? 'new' : 'after gap';
  }

  /** Returns whether a proof must be requested. */
  #addCandidate(host: string, now: number): boolean {
    const existing = this.#candidates.get(host);
    if (existing === undefined ? this.#candidates.size >= maxPeers : now - existing.requestedAt < requestMs)
      return false;
    this.#candidates.set(host, { seenAt: existing?.seenAt ?? now, requestedAt: now });
    return true;
  }

  /** Removes a host that has ended, whose messages count as duplicates from now on. */
  remove(host: string): void {
    const peer = this.#peers.get(host);
    if (peer !== undefined) this.#former.set(host, { message: peer.message, event: peer.event });
    this.#peers.delete(host);
    this.#candidates.delete(host);
  }

  /** Restarts the time in which a message of each host must arrive, after a time without a connection. */
  renew(now: number): void {
    for (const peer of this.#peers.values()) peer.seenAt = now;
  }

  /** Removes hosts that sent nothing for too long. Returns whether there were any, whose last events may be lost. */
  removeEnded(now: number): boolean {
    for (const [host, { seenAt }] of this.#candidates) if (now - seenAt > peerTimeoutMs) this.#candidates.delete(host);
    const ended = [...this.#peers].filter(([, { seenAt }]) => now - seenAt > peerTimeoutMs);
    for (const [host] of ended) this.remove(host);
    return ended.length > 0;
  }
}

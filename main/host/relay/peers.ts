interface Peer {
  /** Number of the last received message. */
  last: number;
  seenAt: number;
}

/** Time in ms without a message after which a host counts as ended. */
const peerTimeoutMs = 20_000;
const maxPeers = 1000;

/** Result of a received number: the message is new, was received before, or follows messages that were lost. */
export type Arrival = 'new' | 'duplicate' | 'after gap';

/** Other hosts with the numbers of their messages. */
export class Peers {
  readonly #peers = new Map<string, Peer>();

  /** Number of hosts from which messages arrived recently. */
  count(now: number): number {
    this.#removeEnded(now);
    return this.#peers.size;
  }

  /** Records a message and returns how its number follows the previous one. */
  receive(host: string, number: number, now: number): Arrival {
    const peer = this.#peers.get(host);
    if (peer === undefined) {
      this.#add(host, number, now);
      // Earlier messages of the host may have been lost, also those after it was removed.
      return number === 1 ? 'new' : 'after gap';
    }
    peer.seenAt = now;
    if (number <= peer.last) return 'duplicate';
    const isNext = number === peer.last + 1;
    peer.last = number;
    return isNext ? 'new' : 'after gap';
  }

  remove(host: string): void {
    this.#peers.delete(host);
  }

  #add(host: string, last: number, seenAt: number): void {
    if (this.#peers.size >= maxPeers) this.#removeEnded(seenAt);
    if (this.#peers.size >= maxPeers) return;
    this.#peers.set(host, { last, seenAt });
  }

  #removeEnded(now: number): void {
    for (const [host, { seenAt }] of this.#peers) if (now - seenAt > peerTimeoutMs) this.#peers.delete(host);
  }
}

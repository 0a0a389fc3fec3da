import { Transform, type TransformCallback } from 'node:stream';
import type { PushRequest, RefChange } from './push-request.ts';
import { flushPacket, packet, PacketReader } from './pkt-line.ts';

const reportBand = 1;

/**
 * Forwards the output of `git receive-pack`, but holds back the report until {@link release}: the results of a push are
 * recorded before the client receives the report.
 */
export class PushReport extends Transform {
  readonly #packets = new PacketReader();
  readonly #banded: boolean;
  readonly #report = new PacketReader();
  readonly #done = new Set<string>();
  #unpacked = false;
  #held: Buffer[] = [];
  #ended: (() => void) | undefined;
  #released = false;

  constructor({ capabilities }: Pick<PushRequest, 'capabilities'>) {
    super();
    this.#banded = capabilities.has('side-band-64k') || capabilities.has('side-band');
  }

  /** Returns the changes that git reported as successful. */
  made(changes: readonly RefChange[]): readonly RefChange[] {
    return this.#unpacked ? changes.filter(({ ref }) => this.#done.has(ref)) : [];
  }

  /** Releases the report. Call it after the push was recorded. */
  release(): void {
    this.#released = true;
    for (const bytes of this.#held) this.push(bytes);
    this.#held = [];
    this.#ended?.();
  }

  override _transform(chunk: Buffer, _encoding: string, callback: TransformCallback): void {
    try {
      this.#packets.add(chunk);
      for (let next = this.#packets.next(); next !== undefined; next = this.#packets.next()) {
        if (!this.#banded) this.#readReport(next.bytes);
        const isProgress = this.#banded && typeof next.packet !== 'string' && next.packet[0] !== reportBand;
        if (this.#banded && typeof next.packet !== 'string' && next.packet[0] === reportBand) {
          this.#readReport(next.packet.subarray(1));
        }
        if (isProgress && this.#held.length === 0) this.push(next.bytes);
        else this.#held.push(next.bytes);
      }
      callback();
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)));
    }
  }

  override _flush(callback: TransformCallback): void {
    if (this.#packets.rest.length > 0) this.#held.push(this.#packets.rest);
    const end = (): void => {
      for (const bytes of this.#held) this.push(bytes);
      this.#held = [];
      callback();
    };
    if (this.#released) end();
    else this.#ended = end;
  }

  #readReport(bytes: Buffer): void {
    this.#report.add(bytes);
    for (let next = this.#report.next(); next !== undefined; next = this.#report.next()) {
      if (typeof next.packet === 'string') continue;
      const line = next.packet.toString().replace(/\n$/, '');
      if (line === 'unpack ok') this.#unpacked = true;
      else if (line.startsWith('ok ')) this.#done.add(line.slice(3));
    }
  }
}

/**
 * Builds the report for a push that is rejected before git receives it. References without a reason were rejected
 * because of another reference of the same push.
 */
export function refusal(
  { changes, capabilities }: Pick<PushRequest, 'changes' | 'capabilities'>,
  reasons: ReadonlyMap<string, string>,
): Buffer {
  const words = changes.map(({ ref }) => `ng ${ref} ${reasons.get(ref) ?? 'refused with the rest of the push'}\n`);
  const report = Buffer.concat([packet('unpack ok\n'), ...words.map((line) => packet(line)), flushPacket]);
  if (!capabilities.has('report-status') && !capabilities.has('report-status-v2')) return Buffer.alloc(0);
  if (!capabilities.has('side-band-64k')) return report;
  const parts: Buffer[] = [];
  const most = 65_000;
  for (let at = 0; at < report.length; at += most) {
    parts.push(packet(Buffer.concat([Buffer.of(reportBand), report.subarray(at, at + most)])));
  }
  return Buffer.concat([...parts, flushPacket]);
}

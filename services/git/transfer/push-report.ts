import { Transform, type TransformCallback } from 'node:stream';
import type { RefChange } from '../domain/ref-change.ts';
import type { PushRequest } from './push-request.ts';
import { flushPacket, encodePacket, PacketReader } from './pkt-line.ts';

const sideBandData = 1;

/**
 * Forwards the output of `git receive-pack`, but holds back the report until {@link release}: the results of a push are
 * recorded before the client receives the report.
 */
export class PushReport extends Transform {
  readonly #packets = new PacketReader();
  readonly #usesSideBand: boolean;
  readonly #report = new PacketReader();
  readonly #updatedRefs = new Set<string>();
  #isUnpacked = false;
  #heldPackets: Buffer[] = [];
  #resumeFlush: (() => void) | undefined;
  #isReleased = false;

  constructor({ capabilities }: Pick<PushRequest, 'capabilities'>) {
    super();
    this.#usesSideBand = capabilities.has('side-band-64k') || capabilities.has('side-band');
  }

  /** Returns the changes that git reported as successful. */
  filterSuccessful(changes: readonly RefChange[]): readonly RefChange[] {
    return this.#isUnpacked ? changes.filter(({ ref }) => this.#updatedRefs.has(ref)) : [];
  }

  /** Releases the report. Call it after the push was recorded. */
  release(): void {
    this.#isReleased = true;
    for (const bytes of this.#heldPackets) this.push(bytes);
    this.#heldPackets = [];
    this.#resumeFlush?.();
  }

  override _transform(chunk: Buffer, _encoding: string, callback: TransformCallback): void {
    try {
      this.#packets.add(chunk);
      for (let packet = this.#packets.read(); packet !== undefined; packet = this.#packets.read()) {
        if (!this.#usesSideBand) this.#readReport(packet.bytes);
        const isProgress = this.#usesSideBand && typeof packet.packet !== 'string' && packet.packet[0] !== sideBandData;
        if (this.#usesSideBand && typeof packet.packet !== 'string' && packet.packet[0] === sideBandData) {
          this.#readReport(packet.packet.subarray(1));
        }
        if (isProgress && this.#heldPackets.length === 0) this.push(packet.bytes);
        else this.#heldPackets.push(packet.bytes);
      }
      callback();
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)));
    }
  }

  override _flush(callback: TransformCallback): void {
    if (this.#packets.remaining.length > 0) this.#heldPackets.push(this.#packets.remaining);
    const finish = (): void => {
      for (const bytes of this.#heldPackets) this.push(bytes);
      this.#heldPackets = [];
      callback();
    };
    if (this.#isReleased) finish();
    else this.#resumeFlush = finish;
  }

  #readReport(bytes: Buffer): void {
    this.#report.add(bytes);
    for (let packet = this.#report.read(); packet !== undefined; packet = this.#report.read()) {
      if (typeof packet.packet === 'string') continue;
      const line = packet.packet.toString().replace(/\n$/, '');
      if (line === 'unpack ok') this.#isUnpacked = true;
      else if (line.startsWith('ok ')) this.#updatedRefs.add(line.slice(3));
    }
  }
}

/**
 * Builds the report for a push that is rejected before git receives it. References without a reason were rejected
 * because of another reference of the same push.
 */
export function buildRejectionReport(
  { changes, capabilities }: Pick<PushRequest, 'changes' | 'capabilities'>,
  reasons: ReadonlyMap<string, string>,
): Buffer {
  const lines = changes.map(({ ref }) => `ng ${ref} ${reasons.get(ref) ?? 'refused with the rest of the push'}\n`);
  const report = Buffer.concat([encodePacket('unpack ok\n'), ...lines.map((line) => encodePacket(line)), flushPacket]);
  if (!capabilities.has('report-status') && !capabilities.has('report-status-v2')) return Buffer.alloc(0);
  if (!capabilities.has('side-band-64k')) return report;
  const parts: Buffer[] = [];
  const maxChunkBytes = 65_000;
  for (let offset = 0; offset < report.length; offset += maxChunkBytes) {
    parts.push(encodePacket(Buffer.concat([Buffer.of(sideBandData), report.subarray(offset, offset + maxChunkBytes)])));
  }
  return Buffer.concat([...parts, flushPacket]);
}

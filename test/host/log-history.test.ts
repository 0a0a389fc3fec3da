import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { jsonLine, textLine, type LogEntry } from '../../main/host/log/format.ts';
import { linesBefore, readLine } from '../../main/host/log/history.ts';
import type { LogLine } from '../../services/contracts/control/api.ts';
import { control } from '../../services/control/index.ts';
import { api } from '../support/api.ts';
import { openTestHost } from '../support/host.ts';

const entry: LogEntry = {
  ...{ id: 1, at: Date.UTC(2026, 0, 2, 3, 4, 5, 678), level: 'warn', service: 'push', message: 'a topic: was left' },
  fields: { topic: 'alerts', text: 'two words "quoted"', count: 12, list: ['a b', { c: 'd' }], error: 'x=1' },
};

describe('the log of earlier starts', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'homeport-log-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  it.each([
    ['text', textLine(entry), '12'],
    ['JSON', jsonLine(entry), 12],
  ])('is read back from lines of %s', (_, line, count) => {
    const { id: _id, fields, ...rest } = entry;
    expect(readLine(line)).toEqual({ ...rest, fields: { ...fields, count } });
  });

  it('passes over what is no line of it', () => {
    for (const line of ['', '{"time":', 'Error: x', '2026-01-02T03:04:05.678Z LOUD push x']) {
      expect(readLine(line)).toBeUndefined();
    }
  });

  it('is read from the end and through the files that were turned over', async () => {
    const path = join(dataDir, 'homeport.log');
    const lines = Array.from({ length: 12_000 }, (_, at) =>
      textLine({ ...entry, at: entry.at + at, message: `line ${String(at)}`, fields: { word: 'ü'.repeat(20) } }),
    );
    writeFileSync(`${path}.1`, `${lines.slice(0, 5000).join('\n')}\n`);
    writeFileSync(path, `${lines.slice(5000).join('\n')}\n`);
    const found = await linesBefore(path, entry.at + 11_000, 9000, () => true);
    expect(found.length).toBe(9000);
    expect(found[0]?.message).toBe('line 10999');
    expect(
      found.every(({ message, fields }, at) => message === `line ${String(10_999 - at)}` && fields['word'] !== ''),
    ).toBe(true);
    expect((await linesBefore(path, Infinity, 5, ({ message }) => message.endsWith('00')))[4]?.message).toBe(
      'line 11500',
    );
    expect(await linesBefore(join(dataDir, 'none.log'), Infinity, 5, () => true)).toEqual([]);
  });

  it('is on the Log page after a restart', async () => {
    const read = async (query: string): Promise<readonly LogLine[]> => {
      await using host = await openTestHost({ services: [control], dataDir });
      host.host.log.warn('the tide turned', { level: 'high', mooring: 3 });
      return (await api<{ lines: LogLine[] }>(host.url('control'), `/api/log?limit=500${query}`)).lines;
    };
    const first = await read('');
    const second = await read('&text=tide');
    expect(second.map(({ message }) => message)).toEqual(['the tide turned', 'the tide turned']);
    expect(String(second[0]?.fields['mooring'])).toBe('3');
    expect(second[0]?.time).toBe(first.find(({ message }) => message === 'the tide turned')?.time);
    const earlier = await read(`&text=tide&before=${String(second[1]?.time)}`);
    expect(earlier).toEqual([second[0]]);
  });
});

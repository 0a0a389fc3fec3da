import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { jsonLine, textLine, type LogEntry } from '../../main/host/log/format.ts';
import { readLinesBefore, readLine, type LogPosition } from '../../main/host/log/history.ts';
import type { LogLine } from '../../services/contracts/control/log.ts';
import { control } from '../../services/control/index.ts';
import { api } from '../support/api.ts';
import { openTestHost, type TestHost } from '../support/host.ts';

const entry: LogEntry = {
  ...{ id: 1, at: Date.UTC(2026, 0, 2, 3, 4, 5, 678), level: 'warn', service: 'push', message: 'a topic: was left' },
  fields: { topic: 'alerts', text: 'two words "quoted"', count: 12, list: ['a b', { c: 'd' }], error: 'x=1' },
};

const newest = { at: Infinity, passed: 0 };

describe('log history', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'homeport-log-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  it.each([
    ['text', textLine(entry), '12'],
    ['JSON', jsonLine(entry), 12],
  ])('parses lines of %s', (_, line, count) => {
    const { id: _id, fields, ...rest } = entry;
    expect(readLine(line)).toEqual({ ...rest, fields: { ...fields, count } });
  });

  it('skips invalid lines', () => {
    for (const line of ['', '{"time":', 'Error: x', '2026-01-02T03:04:05.678Z LOUD push x']) {
      expect(readLine(line)).toBeUndefined();
    }
  });

  it('is read backwards through the rotated files', async () => {
    const path = join(dataDir, 'homeport.log');
    const lines = Array.from({ length: 12_000 }, (_, index) =>
      textLine({ ...entry, at: entry.at + index, message: `line ${String(index)}`, fields: { word: 'ü'.repeat(20) } }),
    );
    writeFileSync(`${path}.1`, `${lines.slice(0, 5000).join('\n')}\n`);
    writeFileSync(path, `${lines.slice(5000).join('\n')}\n`);
    const from = { at: entry.at + 11_000, passed: Infinity };
    const { lines: olderLines } = await readLinesBefore(path, { from, limit: 9000, matches: () => true });
    expect(olderLines.length).toBe(9000);
    expect(olderLines[0]?.message).toBe('line 10999');
    expect(
      olderLines.every(
        ({ message, fields }, index) => message === `line ${String(10_999 - index)}` && fields['word'] !== '',
      ),
    ).toBe(true);
    const matches = ({ message }: { message: string }): boolean => message.endsWith('00');
    expect((await readLinesBefore(path, { from: newest, limit: 5, matches: matches })).lines[4]?.message).toBe(
      'line 11500',
    );
    const none = await readLinesBefore(join(dataDir, 'none.log'), { from: newest, limit: 5, matches: matches });
    expect([none.lines, none.isWhole]).toEqual([[], true]);
  });

  /** Reads page by page, like the Log page. */
  async function readMessages(
    path: string,
    limit: number,
    matches: (line: { message: string }) => boolean = () => true,
  ) {
    const [messages, sizes]: [string[], number[]] = [[], []];
    for (let from: LogPosition = newest; ;) {
      const { lines, position, isWhole } = await readLinesBefore(path, { from, limit, matches: matches });
      messages.push(...lines.map(({ message }) => message));
      sizes.push(lines.length);
      if (isWhole) return { messages, sizes };
      from = position;
    }
  }

  it('loses no line of a millisecond at a page boundary', async () => {
    const path = join(dataDir, 'homeport.log');
    const lines = Array.from({ length: 30 }, (_, index) =>
      textLine({ ...entry, at: entry.at + Math.floor(index / 10), message: `line ${String(index)}` }),
    );
    writeFileSync(`${path}.1`, `${lines.slice(0, 14).join('\n')}\n`);
    writeFileSync(path, `${lines.slice(14).join('\n')}\n`);
    const { messages, sizes } = await readMessages(path, 4);
    expect(messages).toEqual(Array.from({ length: 30 }, (_, index) => `line ${String(29 - index)}`));
    expect(sizes[0]).toBe(4);
  });

  it('continues after the read limit and reports more', async () => {
    const path = join(dataDir, 'homeport.log');
    const word = 'x'.repeat(100_000);
    const lines = Array.from({ length: 400 }, (_, index) =>
      textLine({ ...entry, at: entry.at + index, message: `line ${String(index)}`, fields: { word } }),
    );
    writeFileSync(path, `${lines.join('\n')}\n`);
    const { messages, sizes } = await readMessages(path, 500, ({ message }) => /^line (?:399|7)$/.test(message));
    expect(messages).toEqual(['line 399', 'line 7']);
    expect(sizes.length).toBeGreaterThan(2);
  });

  it.each(['\n', ''])('reads lines longer than a chunk before an end of %j', async (end) => {
    const path = join(dataDir, 'homeport.log');
    const word = 'ü'.repeat(400_000);
    const lines = [0, 1, 2].map((offset) =>
      textLine({ ...entry, at: entry.at + offset, fields: { word, at: offset } }),
    );
    writeFileSync(path, `${lines.join('\n')}${end}`);
    const olderLines = await readLinesBefore(path, { from: newest, limit: 9, matches: () => true });
    expect(olderLines.lines.map(({ fields }) => [fields['at'], fields['word'] === word])).toEqual([
      ['2', true],
      ['1', true],
      ['0', true],
    ]);
  });

  it.each(['text', 'json'] as const)('returns the event of lines in memory and of %s files', async (logFormat) => {
    const environment = { HOMEPORT_LOG_FORMAT: logFormat };
    const readLines = async (host: TestHost): Promise<readonly unknown[]> => {
      const { lines } = await api<{ lines: LogLine[] }>(host.url('control'), '/api/log?limit=500&text=tide');
      return lines.map(({ event, fields }) => [event, fields]);
    };
    const expected = [
      ['backup_written', { tide: 'high' }],
      [undefined, { event: 'sign_out', tide: 'low' }],
    ];
    {
      await using host = await openTestHost({ services: [control], dataDir, environment });
      host.host.log.warn('written', { event: 'backup_written', tide: 'high' });
      host.host.log.warn('signed out', { event: 'sign_out', tide: 'low' });
      expect(await readLines(host)).toEqual(expected);
    }
    await using host = await openTestHost({ services: [control], dataDir, environment });
    expect(await readLines(host)).toEqual(expected);
  });

  it('continues from memory to files without gaps or duplicates', async () => {
    await using host = await openTestHost({ services: [control], dataDir });
    for (let number = 0; number < 2500; number += 1) host.host.log.warn(`the tide turned ${String(number)}`);
    const messages: string[] = [];
    let query = '';
    do {
      const reply = await api<{ lines: LogLine[]; cursor: string | null }>(
        host.url('control'),
        `/api/log?limit=333&text=tide${query}`,
      );
      messages.push(...reply.lines.map(({ message }) => message).toReversed());
      query = reply.cursor === null ? '' : `&cursor=${reply.cursor}`;
    } while (query !== '');
    expect(messages).toEqual(Array.from({ length: 2500 }, (_, index) => `the tide turned ${String(2499 - index)}`));
  });

  it('appears on the Log page after a restart', async () => {
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

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatArray, parseArray } from '../../renderer/src/pages/data/rows/values/array-value.ts';
import {
  getNextPosition,
  getPositionAfterEdit,
  type GridSize,
} from '../../renderer/src/pages/data/rows/grid/grid-navigation.ts';
import {
  fromPickerValue,
  getEditorKind,
  isJson,
  toPickerValue,
} from '../../renderer/src/pages/data/rows/values/value-editors.ts';
import { formatJson } from '../../renderer/src/pages/data/sql/results/result-json.ts';

const size: GridSize = { rows: 100, columns: 3, pageRows: 10, hasLead: true };
const press = (key: string, ctrlKey = false) => ({ key, ctrlKey, metaKey: false });

describe('getNextPosition', () => {
  it.each([
    ['ArrowDown', false, { row: 6, column: 1 }],
    ['ArrowUp', false, { row: 4, column: 1 }],
    ['ArrowLeft', false, { row: 5, column: 0 }],
    ['ArrowRight', false, { row: 5, column: 2 }],
    ['Home', false, { row: 5, column: -1 }],
    ['End', false, { row: 5, column: 2 }],
    ['Home', true, { row: 0, column: -1 }],
    ['End', true, { row: 99, column: 2 }],
    ['PageDown', false, { row: 15, column: 1 }],
    ['PageUp', false, { row: 0, column: 1 }],
    ['ArrowDown', true, { row: 99, column: 1 }],
  ] as const)('moves with %s (Ctrl: %s)', (key, isFar, expected) => {
    expect(getNextPosition({ row: 5, column: 1 }, press(key, isFar), size)).toEqual(expected);
  });

  it('stays inside the grid, and skips the row selection in the header', () => {
    expect(getNextPosition({ row: 0, column: -1 }, press('ArrowUp'), size)).toEqual({ row: -1, column: 0 });
    expect(getNextPosition({ row: -1, column: 0 }, press('ArrowLeft'), size)).toEqual({ row: -1, column: 0 });
    expect(getNextPosition({ row: 99, column: 2 }, press('ArrowDown'), size)).toEqual({ row: 99, column: 2 });
    expect(getNextPosition({ row: 3, column: 0 }, press('Home'), { ...size, hasLead: false })?.column).toBe(0);
  });

  it('ignores other keys', () => {
    expect(getNextPosition({ row: 0, column: 0 }, press('Tab'), size)).toBeUndefined();
    expect(getNextPosition({ row: 0, column: 0 }, press('a'), size)).toBeUndefined();
  });
});

describe('getPositionAfterEdit', () => {
  it.each([
    [{ row: 5, column: 1 }, 'down', { row: 6, column: 1 }],
    [{ row: 5, column: 2 }, 'next', { row: 6, column: 0 }],
    [{ row: 5, column: 0 }, 'previous', { row: 4, column: 2 }],
    [{ row: 0, column: 0 }, 'previous', { row: 0, column: 0 }],
    [{ row: 99, column: 2 }, 'next', { row: 99, column: 2 }],
    [{ row: 5, column: 1 }, 'stay', { row: 5, column: 1 }],
  ] as const)('leads from %o with %s to %o', (from, move, expected) => {
    expect(getPositionAfterEdit(from, move, size)).toEqual(expected);
  });
});

describe('parseArray', () => {
  it.each([
    ['{}', []],
    ['{a,b}', ['a', 'b']],
    [String.raw`{"x, \"y\"",z}`, ['x, "y"', 'z']],
    ['{"NULL"}', ['NULL']],
    ['{12345678901234567890.5}', ['12345678901234567890.5']],
  ])('reads %s as a list', (text, items) => {
    expect(parseArray(text)).toEqual(items);
  });

  it.each(['{NULL}', '{{1,2}}', '[0:1]={1,2}', '{""}', '{a,,b}', '{a,}', '{"a\nb"}', 'a,b', ''])(
    'leaves %j to the text format',
    (text) => {
      expect(parseArray(text)).toBeUndefined();
    },
  );

  it('reads what formatArray writes', () => {
    const item = fc.string({ minLength: 1 }).filter((text) => !text.includes('\n'));
    fc.assert(
      fc.property(fc.array(item), (items) => {
        expect(parseArray(formatArray(items))).toEqual(items);
      }),
    );
  });
});

describe('getEditorKind', () => {
  const column = { choices: [], reference: null };
  it.each([
    ['numeric(10,2)', 'number'],
    ['bigint', 'number'],
    ['boolean', 'flag'],
    ['jsonb', 'json'],
    ['text[]', 'array'],
    ['text', 'long'],
    ['character varying(20)', 'line'],
    ['date', 'date'],
    ['timestamp with time zone', 'timestamp'],
    ['uuid', 'line'],
  ])('edits %s as %s', (type, kind) => {
    expect(getEditorKind({ ...column, type })).toBe(kind);
  });

  it('prefers the list of an enumerated type', () => {
    expect(getEditorKind({ ...column, type: 'public.mood', choices: ['sad', 'glad'] })).toBe('choice');
  });
});

describe('toPickerValue', () => {
  it('keeps the instant of a time with a time zone', () => {
    const type = 'timestamp with time zone';
    const stored = '2026-11-27 13:56:00+00';
    expect(Date.parse(fromPickerValue(toPickerValue(stored, type), type))).toBe(Date.parse(stored));
  });

  it('leaves values without a date to the text field', () => {
    expect(toPickerValue('infinity', 'timestamp without time zone')).toBe('');
    expect(toPickerValue('0044-03-15 BC', 'date')).toBe('');
    expect(toPickerValue('2026-02-28', 'date')).toBe('2026-02-28');
  });
});

describe('isJson', () => {
  it('accepts large numbers and rejects incomplete texts', () => {
    expect(isJson('{"a": 12345678901234567890}')).toBe(true);
    expect(isJson('{"a"')).toBe(false);
  });
});

describe('formatJson', () => {
  it('keeps numbers exact, and names columns of the same name differently', () => {
    const text = formatJson({
      columns: ['n', 'n', 'flag', 'meta', 'word'],
      kinds: ['number', 'number', 'boolean', 'json', 'text'],
      rows: [
        ['12345678901234567890.10', 'NaN', 't', '{"a": 1}', 'say "hi"'],
        [null, '1', 'f', 'null', ''],
      ],
    });
    expect(text).toBe(
      '[\n  { "n": 12345678901234567890.10, "n_2": "NaN", "flag": true, "meta": {"a": 1}, "word": "say \\"hi\\"" },\n' +
        '  { "n": null, "n_2": 1, "flag": false, "meta": null, "word": "" }\n]',
    );
    expect(formatJson({ columns: ['n'], kinds: ['number'], rows: [] })).toBe('[]');
  });
});

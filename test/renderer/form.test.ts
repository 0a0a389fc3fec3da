import * as partsMessages from '#messages/parts';
import * as validation from '#messages/validation';
import { formatNumber } from '../../messages/format.ts';
import { setLanguage } from '../../messages/language.ts';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { groupFields, isEffective, groupByHeading } from '../../renderer/src/pages/settings-form/field-groups.ts';
import {
  convertMessage,
  getDisplayUnit,
  formatAmount,
  toSettingValue,
} from '../../renderer/src/pages/settings-form/fields/amount.ts';
import { parseQuantity, stringifyQuantity } from '../../renderer/src/pages/settings-form/fields/quantity.ts';
import { getControl, getErrors, parseNumber } from '../../renderer/src/pages/settings-form/fields/field-control.ts';
import type { SettingsField } from '../../services/contracts/control/settings.ts';
import {
  formatAgo,
  formatByteLimit,
  formatBytes,
  formatDuration,
  formatElapsed,
} from '../../renderer/src/parts/text/format.ts';

const kind = (schema: z.ZodType): string => getControl(z.toJSONSchema(schema, { io: 'input' })).kind;

describe('groups of settings fields', () => {
  const field = (title: string, schema: z.ZodType, group = ''): SettingsField => ({
    group,
    name: title,
    path: title,
    title,
    description: '',
    value: null,
    origin: { from: 'default' as const },
    advanced: true,
    area: 'general',
    lockedBy: null,
    live: false,
    secret: false,
    schema: { ...z.toJSONSchema(schema, { io: 'input' }) },
  });

  it('separates single fields, groups with a common prefix, and fields edited as JSON', () => {
    const key = field('TorBox: API key', z.string());
    const address = field('TorBox: address', z.string());
    const monitors = field('Monitors', z.array(z.looseObject({})));
    const port = field('Port', z.int());
    const { alone, groups } = groupFields([key, monitors, port, address]);
    expect(alone).toEqual([port]);
    expect(groups.map(({ title, fields }) => [title, fields.map((entry) => entry.title)])).toEqual([
      ['TorBox', ['API key', 'Address']],
      ['JSON', ['Monitors']],
    ]);
  });

  it('groups fields by heading before those with a common prefix', () => {
    const [port, proxy, spare] = [field('Port', z.int()), field('Proxy', z.string(), 'Way out'), field('A', z.int())];
    const [monitors, names] = [field('M', z.array(z.looseObject({})), 'Lists'), field('Names', z.string(), 'Lists')];
    const { alone, groups } = groupFields([port, proxy, monitors, names, spare]);
    expect(alone).toEqual([port, spare]);
    expect(groups.map(({ title, fields }) => [title, fields])).toEqual([
      ['Way out', [proxy]],
      ['Lists', [names]],
      ['JSON', [monitors]],
    ]);
    expect(groupByHeading([proxy, port]).map(({ title }) => title)).toEqual(['', 'Way out']);
  });

  it('shows fields only while their requirements are met', () => {
    const inMode = field('Concurrent downloads', z.int().meta({ needs: { mode: ['concurrent'] } }));
    const ofServer = field('User', z.string().meta({ needs: { server: true } }));
    expect(isEffective(inMode, () => 'concurrent')).toBe(true);
    expect(isEffective(inMode, () => 'sequential')).toBe(false);
    expect(isEffective(ofServer, (name) => (name === 'server' ? 'mail.example' : ''))).toBe(true);
    expect(isEffective(ofServer, () => '')).toBe(false);
  });
});

describe('the control for a setting', () => {
  it.each([
    ['text', z.string()],
    ['text', z.string().nullable()],
    ['secret', z.string().meta({ secret: true })],
    ['number', z.int().min(1).default(3)],
    ['number', z.number().nullable()],
    ['amount', z.int().min(1000).default(7000).meta({ unit: 'ms' })],
    ['quantity', z.string().default('12h').meta({ quantity: 'duration' })],
    ['switch', z.boolean()],
    ['choice', z.enum(['a', 'b'])],
    ['choices', z.array(z.enum(['a', 'b']))],
    ['lines', z.array(z.string())],
    ['rows', z.array(z.object({ name: z.string(), level: z.enum(['a', 'b']) }))],
    ['json', z.array(z.object({ name: z.string(), inner: z.object({ deep: z.string() }) }))],
    ['json', z.record(z.string(), z.string())],
    ['json', z.union([z.string(), z.int()])],
    ['lines', z.array(z.int())],
    ['lines', z.array(z.union([z.ipv4(), z.cidrv4()]))],
    ['json', z.array(z.union([z.string(), z.int()]))],
  ] as const)('is %s', (expected, schema) => {
    expect(kind(schema)).toBe(expected);
  });

  it('offers the values with labels in their order, or all values without labels', () => {
    const options = (schema: z.ZodType): unknown => {
      const control = getControl(z.toJSONSchema(schema, { io: 'input' }));
      return 'options' in control ? control.options : undefined;
    };
    const sizes = z.enum(['1080', '1080p', 'best']);
    const choices = { best: 'The best there is', '1080p': 'Up to 1080p', gone: 'No such value' };
    const offered = [
      ['best', 'The best there is'],
      ['1080p', 'Up to 1080p'],
    ];
    expect(options(sizes)).toEqual([
      ['1080', '1080'],
      ['1080p', '1080p'],
      ['best', 'best'],
    ]);
    expect(options(sizes.default('best').meta({ choices }))).toEqual(offered);
    expect(options(z.array(sizes).meta({ choices }))).toEqual(offered);
  });

  it('shows an example in an empty text field', () => {
    const address = z.string().default('').meta({ example: 'https://push.home.lan' });
    expect(getControl(z.toJSONSchema(address, { io: 'input' }))).toMatchObject({ example: 'https://push.home.lan' });
  });

  it('follows references, also circular ones', () => {
    const Name = z.string().meta({ id: 'FormTestName' });
    expect(kind(z.array(z.object({ first: Name, last: Name })))).toBe('rows');
    expect(getControl({ $ref: '#' }).kind).toBe('json');
  });
});

describe('an amount', () => {
  const ms = { unit: 'ms', smallUnit: 1 } as const;
  const bytes = { unit: 'bytes', smallUnit: 1 } as const;
  const file = { unit: 'bytes', smallUnit: 2 ** 20 } as const;

  it('is displayed in seconds and MiB, or in bytes when it is small', () => {
    expect(formatAmount(ms, getDisplayUnit(ms, 9500), 9500)).toBe('9.5');
    expect(getDisplayUnit(bytes, 200).name).toBe('bytes');
    expect(getDisplayUnit(bytes, 0).name).toBe('MiB');
    expect(formatAmount(bytes, getDisplayUnit(bytes, 2 ** 40), 2 ** 40)).toBe('1048576');
  });

  it('is displayed as its effective value when small numbers have another meaning', () => {
    expect([getDisplayUnit(file, 200).name, formatAmount(file, getDisplayUnit(file, 200), 200)]).toEqual([
      'MiB',
      '200',
    ]);
    expect(toSettingValue(file, getDisplayUnit(file, 200), 0.005)).toBe(10_000);
    expect(toSettingValue(file, getDisplayUnit(file, 200), 25)).toBe(25 * 2 ** 20);
    expect(toSettingValue(bytes, getDisplayUnit(bytes, 0), 0.005)).toBe(5243);
  });

  it('is rejected with its displayed unit', () => {
    const seconds = getDisplayUnit(ms, 1);
    expect(convertMessage(validation.min({ limit: formatNumber(1500) }), seconds)).toBe(
      validation.min({ limit: '1.5 s' }),
    );
    expect(convertMessage(validation.max({ limit: formatNumber(2 ** 24) }), getDisplayUnit(bytes, 0))).toBe(
      validation.max({ limit: '16 MiB' }),
    );
    expect(convertMessage(validation.missing(), seconds)).toBe(validation.missing());
  });

  it.each(['de', 'de-CH', 'fr', 'es', 'ja'])('is rejected with its displayed unit in the locale %s', (locale) => {
    setLanguage('en', locale);
    try {
      const message = `Minimum ${formatNumber(12_500_000)}.`;
      expect(convertMessage(message, getDisplayUnit(ms, 1))).toBe(`Minimum ${formatNumber(12_500)} s.`);
    } finally {
      setLanguage('en');
    }
  });
});

describe('a text of a number and a unit', () => {
  it.each([
    ['duration', '12h', { count: '12', unit: 'h' }],
    ['duration', '1.5s', { count: '1.5', unit: 's' }],
    ['duration', 'm', { count: '', unit: 'm' }],
    ['duration', '1h30m', undefined],
    ['duration', '20ms', undefined],
    ['size', '15M', { count: '15', unit: 'M' }],
    ['size', '0', { count: '0', unit: '' }],
  ] as const)('parses a %s: %s', (quantity, text, parts) => {
    expect(parseQuantity(quantity, text)).toEqual(parts);
  });

  it('keeps its unit, whatever number is typed', () => {
    expect([stringifyQuantity('90', 'm'), stringifyQuantity('1,5', 'h'), stringifyQuantity('x', 'h')]).toEqual([
      '90m',
      '1.5h',
      'h',
    ]);
  });
});

describe('the text of a number field', () => {
  it('is sent unchanged when it is not a number', () => {
    expect(parseNumber(' 12 ', false)).toBe(12);
    expect(parseNumber('lots', false)).toBe('lots');
    expect(parseNumber('', true)).toBeNull();
  });
});

describe('errors by field', () => {
  it('names the row of a list', () => {
    const field = { name: 'people', path: 'services.moody.people' };
    expect(getErrors(field, { 'services.moody.people.1.name': 'Too short.' })).toBe('row 2, name: Too short.');
    expect(getErrors(field, { 'services.moody.peoples': 'No.' })).toBe('');
  });
});

describe('figures', () => {
  it.each([
    [15 * 2 ** 20, '15 MiB'],
    [2 ** 30, '1024 MiB'],
    [15_700_000, '15.7 MB'],
    [1000, '1 kB'],
  ])('shows a limit of %d bytes as %s', (count, text) => {
    expect(formatByteLimit(count)).toBe(text);
  });

  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1_400_000, '1.4 MB'],
    [999_960, '1 MB'],
    [2e15, '2,000 TB'],
  ])('shows %d bytes as %s', (count, text) => {
    expect(formatBytes(count)).toBe(text);
  });

  it.each([
    [7, '0:07'],
    [750, '12:30'],
    [3723, '1:02:03'],
  ])('shows %d seconds as %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });

  it.each([
    [0, '0 ms'],
    [25.4, '25 ms'],
    [1400, '1.4 s'],
    [59_700, '1 min'],
    [14_400_000, '4 h'],
    [200_000_000, '2.3 days'],
  ])('shows %d ms as %s', (milliseconds, text) => {
    expect(formatElapsed(milliseconds)).toBe(text);
  });

  it('formats past times in a short form', () => {
    const now = new Date(2026, 2, 3, 14, 30).getTime();
    expect(formatAgo(now - 20_000, now)).toBe('now');
    expect(formatAgo(now - 4 * 60_000, now)).toBe(partsMessages.minutesAgo({ minutes: 4 }));
    expect(formatAgo(now - 3 * 3_600_000, now)).toBe('11:30');
    expect(formatAgo(Date.parse('2026-03-02T22:30'), Date.parse('2026-03-03T00:10'))).toBe('yesterday, 22:30');
    expect(formatAgo(now - 30 * 3_600_000, now)).toBe('yesterday');
    expect(formatAgo(now - 60 * 3_600_000, now)).toBe('Sun, Mar 1');
    expect(formatAgo(Date.parse('2024-05-09T12:00'), now)).toBe('May 9, 2024');
  });
});

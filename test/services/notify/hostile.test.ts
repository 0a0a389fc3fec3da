import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { notify } from '../../../services/notify/index.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe } from './support.ts';

let host: TestHost;
beforeAll(async () => {
  host = await openTestHost({ services: [createProbe(['inbox', 'push']).descriptor, notify] });
});
afterAll(() => host[Symbol.asyncDispose]());

async function post(path: string, body: string | Uint8Array<ArrayBuffer>, type: string) {
  const reply = await fetch(host.url('notify') + path, { method: 'POST', headers: { 'content-type': type }, body });
  return { status: reply.status, text: await reply.text() };
}

/** Creates a repeatable number generator. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state % below;
  };
}

/** Asserts that the service is running and responds to valid requests. */
const isUp = async () =>
  expect(await post('/notify/aggregator', 'body=x', 'application/x-www-form-urlencoded')).toMatchObject({
    status: 200,
  });

/** Ten references to ten references, nine levels deep: a billion texts when expanded. */
const nestedEntities = [
  'a: &a [x]',
  ...'bcdefghij'
    .split('')
    .map((name, index) => `${name}: &${name} [${Array(10).fill(`*${'abcdefghij'[index]}`).join(',')}]`),
].join('\n');

describe('a malicious configuration', () => {
  it.each([
    ['a billion laughs', `${nestedEntities}\nurls: *j\n`],
    ['an alias of itself', 'urls: &a [*a]\n'],
    ['aliases without number', `x: &x inbox://\nurls:\n${'  - *x\n'.repeat(20_000)}`],
    ['brackets without end', `urls: ${'['.repeat(100_000)}`],
    ['maps within maps', `urls: ${'{a: '.repeat(20_000)}`],
    ['indentation without end', Array.from({ length: 600 }, (_, index) => `${' '.repeat(index)}urls:`).join('\n')],
    ['a merge key and a tag', 'urls:\n  - <<: {url: "inbox://"}\n  - !!js/function "x"\n  - !!binary "aW5ib3g6Ly8="\n'],
    ['a name of the prototype', 'urls:\n  - json://h:\n      __proto__: x\n      constructor: y\n'],
    ['documents in a row', '---\nurls: inbox://\n---\nurls: push://x\n'],
    ['a key without end', `${'k'.repeat(500_000)}: x`],
  ])('parses or refuses a YAML configuration: %s', async (_name, config) => {
    const { status } = await post('/add/hostile', JSON.stringify({ config, format: 'yaml' }), 'application/json');
    expect([200, 400]).toContain(status);
    const listed = await fetch(`${host.url('notify')}/json/urls/hostile`);
    expect([200, 204]).toContain(listed.status);
    expect((await listed.text()).length).toBeLessThan(5_000_000);
    await isUp();
  });

  it.each([
    [
      'groups of groups in a ring',
      `${Array.from({ length: 300 }, (_, index) => `g${index}=g${(index + 1) % 300}`).join('\n')}\ng1=inbox://`,
    ],
    ['lines without number', 'inbox://\n'.repeat(50_000)],
    ['tags without number', `${Array.from({ length: 20_000 }, (_, index) => `t${index}`).join(',')}=inbox://`],
    ['equal signs', `${'='.repeat(200_000)}`],
    ['spaces', `${' '.repeat(200_000)}=inbox://`],
  ])('parses or refuses a TEXT configuration: %s', async (_name, config) => {
    const { status } = await post('/add/hostile', JSON.stringify({ config, format: 'text' }), 'application/json');
    expect([200, 400]).toContain(status);
    await isUp();
  });
});

describe('a malicious call', () => {
  const tags = [
    'a',
    'b',
    ',',
    '|',
    ' ',
    '+',
    '&',
    ':',
    '1',
    '-',
    '_',
    'all',
    'always',
    '999999999:',
    ':9',
    '%',
    '\u0000',
    'ü',
    '',
    '\n',
  ];

  it('selects destinations or refuses the call for any tag', async () => {
    const next = numbers(7);
    for (let index = 0; index < 150; index += 1) {
      const createTags = () => Array.from({ length: next(12) }, () => tags[next(tags.length)]).join('');
      const tag = [
        createTags(),
        [createTags(), createTags()],
        [[createTags()], createTags()],
        next(5),
        { a: createTags() },
        null,
      ][next(6)];
      const { status } = await post('/notify/aggregator', JSON.stringify({ body: 'x', tag }), 'application/json');
      expect([200, 400, 424], JSON.stringify(tag)).toContain(status);
    }
  });

  it.each([
    ['depth', '['.repeat(200_000), 400],
    ['depth in a field', `{"body":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`, 400],
    ['names of the prototype', '{"__proto__":{"body":"x"},"constructor":1,"body":"x"}', 200],
    ['the same name many times', `{${'"body":"x",'.repeat(20_000)}"body":"y"}`, 200],
    ['a number without end', `{"body":${'9'.repeat(100_000)}}`, 200],
    ['half of a character', '{"body":"\\ud800"}', 200],
    ['nothing but white space', ' '.repeat(1_000_000), 400],
  ])('responds to a JSON body: %s', async (_name, body, status) => {
    expect(await post('/notify/aggregator', body, 'application/json')).toMatchObject({ status });
    await isUp();
  });

  it('responds to any mutation of a known payload', async () => {
    const next = numbers(11);
    const payload = JSON.stringify({
      ...{
        status: 'firing',
        receiver: 'x',
        groupLabels: { a: 'b' },
        commonAnnotations: { summary: 's' },
        version: '4',
      },
      alerts: [{ status: 'firing', labels: { alertname: 'n' }, annotations: {}, startsAt: '2026-01-01T00:00:00Z' }],
      ...{ eventType: 'Download', movie: { title: 't' }, series: [], heartbeat: { status: 0 }, monitor: null },
    });
    const values = ['null', '[]', '{}', '1', '""', '[[[]]]', 'true', '"x"', '-1e999'];
    for (let index = 0; index < 150; index += 1) {
      const broken = payload.replace(/"[^"]*"(?!:)|\[\]|\{\}|null|0/g, (value) =>
        next(6) === 0 ? (values[next(values.length)] ?? value) : value,
      );
      const { status } = await post('/notify/aggregator', broken, 'application/json');
      expect([200, 400], broken).toContain(status);
    }
  });

  it.each([
    ['a form without a boundary', 'x', 'multipart/form-data'],
    [
      'a form that does not end',
      '--b\r\nContent-Disposition: form-data; name="body"\r\n\r\nx',
      'multipart/form-data; boundary=b',
    ],
    [
      'headers of a part without end',
      `--b\r\nX: ${'y'.repeat(200_000)}\r\n\r\nx\r\n--b--`,
      'multipart/form-data; boundary=b',
    ],
    [
      'parts without number',
      `${'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n'.repeat(2000)}--b--`,
      'multipart/form-data; boundary=b',
    ],
    ['a boundary without end', 'x', `multipart/form-data; boundary=${'b'.repeat(5000)}`],
    ['signs that are no percent encoding', 'body=%%%zz%ff&=&&&%00=x', 'application/x-www-form-urlencoded'],
    ['fields without number', 'a=b&'.repeat(100_000), 'application/x-www-form-urlencoded'],
  ])('responds to a form: %s', async (_name, body, type) => {
    expect([200, 400]).toContain((await post('/notify/aggregator', body, type)).status);
    await isUp();
  });
});

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { downloads } from '../../../services/downloads/index.ts';
import { control } from '../../../services/control/index.ts';
import { isMasked, joinQuerySecrets, splitQuerySecrets } from '../../../services/downloads/domain/address-secrets.ts';
import { withoutSecrets } from '../../../services/downloads/domain/address.ts';
import { api } from '../../support/api.ts';
import { openTestHost } from '../../support/host.ts';
import { Client } from './rig.ts';

const mark = (text: string): string => Buffer.from(text).toString('hex').padEnd(12, '0').slice(-12);

describe('the query of an address', () => {
  it.each([
    'https://a.example/v.mp4?id=7&token=s3cret',
    'https://a.example/v.mp4?access_token=a%2Fb%3D&x=1#part',
    'https://a.example/v?X-Amz-Signature=0123456789abcdef&X-Amz-Expires=300',
    'https://a.example/v?authKey=abcdefghij',
    'https://a.example/v?x=eyJhbGciOi.eyJzdWIiOi.c2ln',
    'https://a.example/v?a&sig=0123456789&sig=9876543210&b=',
  ])('separates and restores secrets: %s', (address) => {
    const { displayUrl: displayed, secrets } = splitQuerySecrets(address, mark);
    expect(Object.keys(secrets).length).toBeGreaterThan(0);
    for (const secret of Object.values(secrets)) expect(displayed).not.toContain(secret);
    expect(isMasked(displayed)).toBe(true);
    expect(joinQuerySecrets(displayed, secrets)).toBe(address);
    // The displayed address contains no more secrets.
    expect(splitQuerySecrets(displayed, mark)).toEqual({ displayUrl: displayed, secrets: {} });
  });

  it.each([
    'https://www.youtube.com/watch?v=dQw4w9WgXcQ&list=PLrAXtmErZgOeiKm4sgNOknGvNjby9efdf&index=3&pp=ygUJ&si=AbCdEfGhIjKl',
    'https://a.example/v?keyword=0123456789&passage=12&monkey=0123456789&author=somebody-long',
    'https://a.example/v?key=7&sign=1&hash=ab',
    'https://a.example/#token=x',
    'https://a.example/token=x/v.mp4',
    'AbCd1234',
  ])('keeps an address without secrets unchanged: %s', (address) => {
    expect(splitQuerySecrets(address, mark)).toEqual({ displayUrl: address, secrets: {} });
  });

  it('removes secrets from messages of the site', () => {
    expect(withoutSecrets('Unable to open https://a:b@h/v?id=1&token=s3cret: 403')).toBe(
      'Unable to open https://h/v?id=1&token=…: 403',
    );
  });
});

describe('a download whose address has a token', () => {
  it('downloads and retries with the token, and never shows it', async () => {
    const secret = randomUUID();
    const requestedPaths: string[] = [];
    const site = createServer((request, response) => {
      requestedPaths.push(request.url ?? '');
      response.writeHead(403).end();
    }).listen(0, '127.0.0.1');
    await once(site, 'listening');
    using _site = { [Symbol.dispose]: () => void site.close() };
    const withIt = (): number => requestedPaths.filter((path) => path.includes(secret)).length;
    await using host = await openTestHost({
      services: [downloads, control],
      environment: { ALLOW_PRIVATE_ADDRESSES: 'true', LOG_LEVEL: 'debug' },
    });
    const client = new Client(host.url('downloads'));
    const controlUrl = host.url('control');
    const address = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}/video?id=7&token=${secret}`;
    const other = address.replace(secret, 'another-token');
    await client.post('/add', { url: address, quality: 'best' });
    await client.post('/add', { url: other, quality: 'best' });
    expect(withIt()).toBeGreaterThan(0);
    const { done } = await client.history();
    // Addresses with different tokens are different downloads.
    const [first, second] = done;
    expect(new Set([first?.url, second?.url]).size).toBe(2);
    expect(first?.url).toMatch(/\?id=7&token=~[0-9a-f]{12}$/);

    const before = withIt();
    await client.post('/retry', { ids: [address] });
    expect(withIt()).toBeGreaterThan(before);
    // MeTube's page retries by adding the displayed address.
    const between = withIt();
    await client.post('/add', { url: first?.url, quality: 'best' });
    expect(withIt()).toBeGreaterThan(between);

    for (const path of ['/api/downloads', '/api/log?limit=1000', '/api/jobs/dead']) {
      expect(JSON.stringify(await api(controlUrl, path))).not.toContain(secret);
    }
    expect(JSON.stringify(await client.history())).not.toContain(secret);
    expect(host.log.join('\n')).not.toContain(secret);
    expect(await client.post('/delete', { where: 'done', ids: [address] })).toMatchObject({ status: 'ok' });
    const history = await client.history();
    expect(history.done.map(({ url }) => url)).toEqual([second?.url]);
  });
});

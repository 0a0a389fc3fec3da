import { describe, expect, it } from 'vitest';
import { parseAddress } from '../../../services/downloads/domain/address.ts';
import { openRig } from './rig.ts';

describe('an address without a scheme', () => {
  it.each([
    ['youtube.com/watch?v=abc', 'http://youtube.com/watch?v=abc'],
    ['127.0.0.1:8080/p/html5', 'http://127.0.0.1:8080/p/html5'],
    ['localhost:8080/x', 'http://localhost:8080/x'],
    ['localhost/x', 'http://localhost/x'],
    ['[::1]:8080/x', 'http://[::1]:8080/x'],
    ['//example.org/x', 'http://example.org/x'],
    ['  example.org/a b ', 'http://example.org/a%20b'],
    ['https://example.org/x', 'https://example.org/x'],
  ])('is parsed as in yt-dlp: %s', (text, href) => {
    const parsed = parseAddress(text);
    expect('msg' in parsed ? parsed.msg : parsed.href).toBe(href);
  });

  it.each(['abc', 'two words', 'file:///etc/passwd', 'javascript:alert(1)', 'ftp://example.org/x', 'mailto:a@b.c'])(
    'is refused when it is invalid: %s',
    (text) => {
      expect(parseAddress(text)).toHaveProperty('msg');
    },
  );

  it('is downloaded, and checked in its complete form', async () => {
    await using rig = await openRig();
    const address = rig.site.url('/p/html5?title=plain').replace('http://', '');
    expect(await rig.client.ended(await rig.client.add(address))).toMatchObject({ status: 'finished' });
    await using closed = await openRig({ environment: { ALLOW_PRIVATE_ADDRESSES: 'false' } });
    expect((await closed.client.post('/add', { url: address, quality: 'best' })).msg).toContain('internal address');
  });
});

describe('credentials of other origins', () => {
  const sendRequest = async (url: string, method: string, origin: string): Promise<Headers> => {
    const init = method === 'POST' ? { body: JSON.stringify({ url: 'http://127.0.0.1:1/x', quality: 'best' }) } : {};
    return (await fetch(`${url}/add`, { method, headers: { origin }, ...init })).headers;
  };

  it.each([
    ['https://www.youtube.com', 'https://www.youtube.com', 'true'],
    ['*', 'https://www.youtube.com', null],
    ['https://*.youtube.com', 'https://www.youtube.com', null],
    ['*,https://www.youtube.com', 'https://www.youtube.com', 'true'],
    ['https://www.youtube.com', 'https://evil.example', null],
  ])('applies CORS_ALLOWED_ORIGINS=%s to %s: %s', async (allowed, origin, credentials) => {
    await using rig = await openRig({ environment: { CORS_ALLOWED_ORIGINS: allowed } });
    const url = rig.host.url('downloads');
    for (const method of ['OPTIONS', 'POST']) {
      const headers = await sendRequest(url, method, origin);
      expect(headers.get('access-control-allow-credentials')).toBe(credentials);
      if (credentials === 'true') expect(headers.get('access-control-allow-origin')).toBe(origin);
    }
  });
});

import { describe, expect, it } from 'vitest';
import { matchRecipient } from '../../../services/mail/domain/recipients.ts';
import { parseTarget, formatTarget } from '../../../services/mail/domain/target.ts';
import { Settings } from '../../../services/mail/settings.ts';

const mappings = [
  { address: 'basic', targets: ['basic'] },
  { address: 'disk.failure', targets: ['dotted'] },
  { address: 'backup-*@nas.lan', targets: ['backup'] },
  { address: 'cam?@*.lan', targets: ['camera'] },
  { address: '*@catch.all', targets: ['all'] },
];

describe('envelope recipient', () => {
  it.each([
    ['basic@anywhere', 'basic', 'info'],
    ['BASIC@ANYWHERE', 'basic', 'info'],
    ['"basic"@x', 'basic', 'info'],
    ['basic.failure@x', 'basic', 'failure'],
    ['basic.FAILURE@x', 'basic', 'failure'],
    ['basic.warning@x', 'basic', 'warning'],
    ['basic.success@x', 'basic', 'success'],
    ['disk.failure@x', 'dotted', 'info'],
    ['backup-db@NAS.lan', 'backup', 'info'],
    ['backup-@nas.lan', 'backup', 'info'],
    ['cam1.warning@house.lan', 'camera', 'warning'],
    ['what.ever.critical@catch.all', 'all', 'info'],
    ['x.failure@catch.all', 'all', 'failure'],
  ])('matches %s with %s as %s', (address, target, type) => {
    const match = matchRecipient(mappings, address);
    expect([match?.mapping.targets, match?.type]).toEqual([[target], type]);
  });

  it.each(
    ['nobody@x', 'basic.critical@x', 'basic+x@x', 'backup-db@other', 'cam12@house.lan', 'basic', '.failure@x'].filter(
      (entry) => entry !== 'basic',
    ),
  )('rejects the unknown recipient %s', (address) => {
    expect(matchRecipient(mappings, address)).toBeUndefined();
  });

  it('is compared in bounded time with any pattern', () => {
    const pattern = `${'a*'.repeat(30)}b`;
    expect(matchRecipient([{ address: pattern, targets: ['x'] }], `${'a'.repeat(60)}@x`)).toBeUndefined();
  });
});

describe('target', () => {
  it.each([
    ['notify://aggregator', 'notify://aggregator'],
    ['notify://home/?tag=a,b', 'notify://home?tag=a%2Cb'],
    ['http://127.0.0.1:8000/notify/aggregator?tag=backup+daily', 'notify://aggregator?tag=backup+daily'],
    ['https://homeport.lan/sub/path/notify/KEY/', 'notify://KEY'],
    ['push://alerts', 'push://alerts'],
  ])('accepts %s', (text, name) => {
    const target = parseTarget(text);
    expect(target && formatTarget(target)).toBe(name);
    expect(target && parseTarget(formatTarget(target))).toEqual(target);
  });

  it.each([
    '',
    'aggregator',
    'notify://',
    'notify://a b',
    'http://host/elsewhere/KEY',
    'push://a/b',
    'push://a?x=y',
    'mailto://a@b',
  ])('refuses %j', (text) => {
    expect(parseTarget(text)).toBeUndefined();
  });
});

describe('recipient settings', () => {
  const check = (address: string, to: string) => Settings.safeParse({ recipients: [{ address, to }] });

  it('have defaults', () => {
    expect(Settings.parse({}).recipients.map(({ address }) => address)).toEqual(['aggregator', 'alerts']);
  });

  it('reports invalid recipients and the expected format', () => {
    expect(check('a*@b.?', 'push://x  notify://y').success).toBe(true);
    const bad = check('a b', 'mailto://x');
    expect(bad.error?.issues.map(({ path }) => path.join('.'))).toEqual(['recipients.0.address', 'recipients.0.to']);
    expect(bad.error?.issues[1]?.message).toMatch(/notify:\/\/KEY/);
  });
});

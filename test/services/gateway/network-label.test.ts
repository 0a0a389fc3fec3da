import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listCertificateNames, toHostLabel } from '../../../services/gateway/domain/names.ts';
import { getNetworkLabel } from '../../../services/gateway/network-label.ts';
import { announcesHostName, hostNameFollowsNetwork } from '../../../services/kit/platform/host-name.ts';

const platforms = ['linux', 'darwin', 'win32'] as const;
const hostnames = ['Annas-iMac.local', 'DESKTOP-4711', 'x'.repeat(63), 'homeport', 'localhost', '-', 'pc-homeport'];

let files: string;
beforeEach(() => {
  files = mkdtempSync(join(tmpdir(), 'homeport-label-'));
});
afterEach(() => rmSync(files, { recursive: true, force: true }));

const getLabel = (platform: NodeJS.Platform, hostname: string, name = '') =>
  getNetworkLabel(files, { name, hostname, platform });

describe('getNetworkLabel', () => {
  it('is the host name on Linux', () => {
    expect(getLabel('linux', 'Nas.example')).toBe('nas');
    expect(getLabel('linux', 'other.example')).toBe('other');
  });

  it.each(hostnames)('differs from the host name %s where the system announces it', (hostname) => {
    for (const platform of ['darwin', 'win32'] as const) {
      const label = getLabel(platform, hostname);
      expect(label).not.toBe(toHostLabel(hostname));
      expect(label).toMatch(/^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/);
    }
  });

  it('begins with the host name, without the number that macOS adds', () => {
    expect(getLabel('darwin', 'Annas-iMac-3.local')).toBe('annas-imac-homeport');
  });

  it('remains the same when the host name changes with the network', () => {
    const label = getLabel('darwin', 'Annas-iMac.local');
    expect(getLabel('darwin', 'dhcp-17.example.org')).toBe(label);
    expect(getLabel('darwin', 'Annas-iMac-2.local')).toBe(label);
  });

  it('is replaced when the computer is given the same name', () => {
    const label = getLabel('win32', 'pc');
    expect(getLabel('win32', label)).toBe('pc-homeport-homeport');
    expect(getLabel('win32', 'pc')).toBe('pc-homeport-homeport');
  });

  it('is built again when the stored text is damaged', () => {
    writeFileSync(join(files, 'network-name'), 'Not a label!\n');
    expect(getLabel('win32', 'pc')).toBe('pc-homeport');
  });

  it.each(platforms)('is the name of the settings on %s', (platform) => {
    expect(getLabel(platform, 'pc', 'nas')).toBe('nas');
  });
});

describe('listCertificateNames', () => {
  it('omits the host name where it follows the network', () => {
    const [addresses, customHosts] = [['192.0.2.1'], ['photos.example']];
    const names = listCertificateNames('nas', { computerLabel: 'pc', addresses, customHosts });
    expect(names).toEqual(['nas.local', '*.nas.local', 'pc', 'localhost', '192.0.2.1', 'photos.example']);
    const withoutHost = listCertificateNames('nas', { computerLabel: undefined, addresses, customHosts });
    expect(withoutHost).toEqual(['nas.local', '*.nas.local', 'localhost', '192.0.2.1', 'photos.example']);
  });
});

describe('host name of the system', () => {
  it('is announced by macOS and Windows, and follows the network on macOS', () => {
    expect(platforms.map((platform) => announcesHostName(platform))).toEqual([false, true, true]);
    expect(platforms.map((platform) => hostNameFollowsNetwork(platform))).toEqual([false, true, false]);
  });
});

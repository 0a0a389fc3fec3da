import { describe, expect, it } from 'vitest';
import { buildGuides } from '../../renderer/src/pages/mail/guides.ts';
import { parseServerAddress } from '../../renderer/src/pages/mail/labels.ts';

const commandsFor = (address: string): string => {
  const access = { tls: 'off', signIn: 'off' } as const;
  const guides = buildGuides({ ...parseServerAddress(address), to: 'alerts@home', access });
  return guides.flatMap(({ steps }) => steps.flatMap(({ copy = '' }) => copy.split('\n'))).join('\n');
};

describe('the commands that send a mail', () => {
  it('formats an IPv6 address as each program expects it', () => {
    const commands = commandsFor('smtp://[fd00::20]:8025');
    expect(commands).toContain("curl -sS 'smtp://[fd00::20]:8025' ");
    expect(commands).toContain("swaks --server '[fd00::20]:8025' ");
    expect(commands).toContain("sendmail -S '[fd00::20]:8025' ");
    expect(commands).toContain('msmtp --host=fd00::20 --port=8025 ');
    expect(commands).toContain('\nhost fd00::20\nport 8025\n');
  });

  it('formats an IPv4 address without brackets', () => {
    const commands = commandsFor('smtp://192.168.1.20:8025');
    expect(commands).toContain('curl -sS smtp://192.168.1.20:8025 ');
    expect(commands).toContain('swaks --server 192.168.1.20:8025 ');
    expect(commands).toContain('msmtp --host=192.168.1.20 --port=8025 ');
  });
});

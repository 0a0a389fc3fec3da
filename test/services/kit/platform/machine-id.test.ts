import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { getMachineId, readMachineId } from '../../../../services/kit/platform/machine-id.ts';
import { standInPrograms } from '../../../support/program-stand-ins.ts';

const ioreg = `echo '    "IOPlatformUUID" = "0A1B2C3D-0000-1111-2222-333344445555"'`;
const reg = String.raw`printf '\r\nHKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Cryptography\r\n    MachineGuid    REG_SZ    0a1b2c3d-0000-1111-2222-333344445555\r\n'`;

describe('readMachineId', () => {
  it('is the host name on Linux, and independent of it on macOS and Windows', () => {
    using _programs = standInPrograms({ ioreg, reg });
    expect(readMachineId('linux')).toBe(hostname());
    expect(readMachineId('darwin')).toMatch(/^[0-9a-f]{16}$/);
    expect(readMachineId('win32')).toBe(readMachineId('darwin'));
  });

  it('is the host name when the system does not report an identifier', () => {
    using _programs = standInPrograms({ ioreg: 'exit 1', reg: 'echo nothing' });
    for (const platform of ['darwin', 'win32'] as const) expect(readMachineId(platform)).toBe(hostname());
  });

  it('is the same for all parts of one process', () => {
    expect(getMachineId()).toBe(getMachineId());
  });
});

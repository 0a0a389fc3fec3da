import { describe, expect, it, vi } from 'vitest';
import { openInBrowser } from '../../../main/host/platform/open-browser.ts';
import { getProcessSpace } from '../../../main/host/platform/process-space.ts';
import { standInPrograms } from '../../support/program-stand-ins.ts';

const url = 'http://127.0.0.1:54321/';

describe('openInBrowser', () => {
  it.each([
    ['linux', 'xdg-open'],
    ['darwin', 'open'],
    ['win32', 'explorer.exe'],
  ] as const)('uses the opener of %s', async (platform, program) => {
    using programs = standInPrograms({ [program]: '' });
    openInBrowser(url, { DISPLAY: ':0' }, platform);
    await vi.waitFor(() => expect(programs.calls(program)).toEqual([url]));
  });

  it('does nothing on Linux without a display', () => {
    using programs = standInPrograms({ 'xdg-open': '' });
    openInBrowser(url, {}, 'linux');
    expect(programs.calls('xdg-open')).toEqual([]);
  });
});

describe('getProcessSpace', () => {
  it.runIf(process.platform === 'linux')('names the boot and the container on Linux', () => {
    expect(getProcessSpace('linux')).toMatch(/^[0-9a-f-]{36}\/pid:\[\d+\]$/);
  });

  it('is empty on systems that do not report it', () => {
    for (const platform of ['darwin', 'win32'] as const) expect(getProcessSpace(platform)).toBe('');
  });
});

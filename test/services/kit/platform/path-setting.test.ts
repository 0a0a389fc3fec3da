import * as kitProblems from '#messages/kit-problems';
import { describe, expect, it } from 'vitest';
import { findPathProblem } from '../../../../services/kit/platform/path-setting.ts';

const foreign = kitProblems.pathOfOtherSystem();
const relative = kitProblems.pathNotAbsolute();

describe('setting of a path', () => {
  it.each([
    ['linux', '/srv/videos', undefined],
    ['linux', 'C:\\Users\\ada\\Videos', foreign],
    ['linux', '\\\\nas\\videos', foreign],
    ['linux', 'videos', relative],
    ['darwin', '/Users/ada/Movies', undefined],
    ['darwin', 'd:/videos', foreign],
    ['win32', 'C:\\Users\\ada\\Videos', undefined],
    ['win32', 'd:/videos', undefined],
    ['win32', '\\\\nas\\videos', undefined],
    ['win32', '//nas/backups', undefined],
    ['win32', '\\/nas/backups', undefined],
    ['win32', '\\\\?\\C:\\backups', undefined],
    ['win32', '///backups', foreign],
    ['linux', '//nas/backups', undefined],
    ['darwin', '//nas/backups', undefined],
    ['win32', '/home/ada/videos', foreign],
    ['win32', 'C:videos', relative],
    ['win32', '', undefined],
  ] as const)('reports on %s for the value %s the problem %s', (platform, path, problem) => {
    expect(findPathProblem(path, platform)).toBe(problem);
  });
});

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { currentPlatform } from './current-platform.ts';

const queryTimeoutMs = 5000;
let currentId: string | undefined;

/**
 * Returns a name of this computer that distinguishes it from others with the same database. On Linux this is the host
 * name, so that containers differ. On macOS the host name follows the network, so that there and on Windows the name
 * derives from the identifier of the installation.
 */
export function getMachineId(): string {
  return (currentId ??= readMachineId(currentPlatform));
}

/** Does the same as {@link getMachineId} without its cache. */
export function readMachineId(platform: NodeJS.Platform): string {
  const identifier = platform === 'darwin' || platform === 'win32' ? findIdentifier(platform) : undefined;
  if (identifier === undefined) return hostname();
  return createHash('sha256').update(identifier.toLowerCase()).digest('hex').slice(0, 16);
}

function findIdentifier(platform: 'darwin' | 'win32'): string | undefined {
  const [file, args, pattern] =
    platform === 'darwin'
      ? (['ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice'], /"IOPlatformUUID"\s*=\s*"([^"]+)"/] as const)
      : (['reg', ['query', registryKey, '/v', 'MachineGuid'], /MachineGuid\s+REG_SZ\s+(\S+)/] as const);
  try {
    const options = { encoding: 'utf8', timeout: queryTimeoutMs, windowsHide: true, stdio: 'pipe' } as const;
    return pattern.exec(execFileSync(file, args, options))?.[1];
  } catch {
    return undefined; // The program is missing or not permitted.
  }
}

const registryKey = String.raw`HKLM\SOFTWARE\Microsoft\Cryptography`;

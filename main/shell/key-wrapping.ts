import type { ShellAnswers } from '../desktop/host-line.ts';
import type { ElectronParts } from './electron.ts';

/**
 * The system's keyring as the keeper of the vault's key. On Linux without a keyring Electron falls back to a password
 * that is in its own source, `basic_text`: that protects nothing, so the key stays in the key file. Asked only once the app is ready.
 */
export function keyAnswers(
  safeStorage: ElectronParts['safeStorage'],
  platform: NodeJS.Platform,
): Pick<ShellAnswers, 'keyStoreIsSafe' | 'wrapKey' | 'unwrapKey'> {
  return {
    async keyStoreIsSafe() {
      if (!(await safeStorage.isAsyncEncryptionAvailable())) return false;
      return platform !== 'linux' || !['basic_text', 'unknown'].includes(safeStorage.getSelectedStorageBackend());
    },
    async wrapKey(bytes) {
      const kept = await safeStorage.encryptStringAsync(Buffer.from(bytes).toString('base64'));
      return kept.toString('base64');
    },
    async unwrapKey(text) {
      const { result, shouldReEncrypt } = await safeStorage.decryptStringAsync(Buffer.from(text, 'base64'));
      return { bytes: Buffer.from(result, 'base64'), outdated: shouldReEncrypt };
    },
  };
}

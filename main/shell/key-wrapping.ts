import type { KeyStore } from '../host/kernel.ts';
import type { ElectronParts } from './electron.ts';

/**
 * The system's keyring as the keeper of the vault's key. On Linux without a keyring Electron falls back to a password
 * that is in its own source, `basic_text`: that protects nothing, so the key stays in the key file. Ask only once the app is ready.
 */
export function safeKeyStore(safeStorage: ElectronParts['safeStorage'], platform: NodeJS.Platform): KeyStore {
  return {
    safe: isSafe(safeStorage, platform),
    wrapping: {
      name: 'safe-storage',
      wrap: async (bytes) => safeStorage.encryptString(Buffer.from(bytes).toString('base64')).toString('base64'),
      unwrap: async (text) => Buffer.from(safeStorage.decryptString(Buffer.from(text, 'base64')), 'base64'),
    },
  };
}

function isSafe(safeStorage: ElectronParts['safeStorage'], platform: NodeJS.Platform): boolean {
  if (!safeStorage.isEncryptionAvailable()) return false;
  return platform !== 'linux' || !['basic_text', 'unknown'].includes(safeStorage.getSelectedStorageBackend());
}

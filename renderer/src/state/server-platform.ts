import { getPathExamples, type PathExamples } from '../../../services/contracts/path-examples.ts';

let current = '';

/** Stores the system that the host runs on, as Node names it. It is known after the sign-in and never changes. */
export function setServerPlatform(platform: string): void {
  current = platform;
}

/** Returns the system that the host runs on; empty before the sign-in. */
export function getServerPlatform(): string {
  return current;
}

/** Returns example paths of the host. */
export function getServerPathExamples(): PathExamples {
  return getPathExamples(current);
}

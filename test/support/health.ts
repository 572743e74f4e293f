/** Runs the checks of `doctor` in this process, which may have the data folder open. */
import assert from 'node:assert/strict';
import { checkDatabaseFile, checkDataFolder } from '../../src/store/sqlite/check/data-folder.ts';
import type { SqliteCheck } from '../../src/store/sqlite/check/finding.ts';

/** Asserts that `doctor` finds no fault. Warnings and notes are allowed. */
export function assertHealthy(folder: string): void {
  const findings = listFindings(folder);
  assert.deepEqual(findings.filter((text) => text.includes(' fault: ')), []);
}

/** As `check level: what`, without those about the disk of the test machine. */
export function listFindings(folder: string, now = Date.now()): string[] {
  return describe(checkDataFolder(folder, now)).filter((text) => !text.startsWith('disk '));
}

export function listFileFindings(file: string): string[] {
  return describe(checkDatabaseFile(file));
}

function describe(checks: Iterable<SqliteCheck>): string[] {
  const texts: string[] = [];
  for (const check of checks) {
    for (const { level, what } of check.find()) texts.push(`${check.name} ${level}: ${what}`);
  }
  return texts;
}

/**
 * Every source file that reads the wall clock, or passes it on, and why a step of it does no harm:
 * a reason, or a test, as `path of the test file: part of its title`. A file that is missing here,
 * or no longer reads the wall clock, fails `clock-steps.test.ts`.
 */

/** The monotonic clock beside it is what is used; or another file reads it. */
const PASSED = 'Passes the clock on.';
const MONOTONIC = 'Uses the monotonic clock beside it.';
const RULES = 'test/store/contract/lived-time.ts: ';
const STEPS = 'test/clock-steps.test.ts: ';
const SHOWN = 'Shows a time or a period to a person, and decides nothing else.';
const LABELLED = 'Writes when something happened; nothing is decided by it.';
const STORED_TIME = `${STEPS}keeps the time of a catalogue at a small step back`;
const REPLAY = `${RULES}replays a change to a retry after the clock was`;
const GRANTS = `${RULES}ends keys and invitations in lived time`;
const SESSIONS = `${STEPS}ends sessions by lived time if the clock is set back`;
const GIVE_UP = 'test/features/webhooks/worker.test.ts: keeps an endpoint active';
const LEASES = 'test/store/postgres/nodes/delivery.postgres.ts: ';

export const CLOCK_CONSUMERS: Readonly<Record<string, string>> = {
  'app-context.ts': PASSED,
  'feature.ts': PASSED,
  'runtime/clock.ts': `${RULES}counts the time that passes, and no step of the clock`,
  'runtime/backoff.ts': 'Compares a date with the clock of the same server.',
  'runtime/rate-limiter.ts': `${STEPS}neither fills nor empties the buckets of rate limits`,
  'http/response/problem.ts': LABELLED,
  'api/authenticate.ts': `${STEPS}ends keys by lived time if the clock is set back`,
  'api/request-rates.ts': `${STEPS}neither fills nor empties the buckets of rate limits`,
  'api/usage-counter.ts': 'Counts requests by hours for a chart: a step moves a bar.',
  'features/telemetry/log.ts': LABELLED,
  'features/telemetry/operator.ts': LABELLED,
  'features/webhooks/deliver.ts': LABELLED,
  'features/webhooks/endpoint.ts': GIVE_UP,
  'features/webhooks/webhooks.ts': PASSED,
  'features/webhooks/worker.ts': 'test/store/contract/webhook-leases.ts: ahead',
  'features/portal/feature.ts': PASSED,
  'features/portal/portal.ts': PASSED,
  'features/portal/route.ts': PASSED,
  'features/portal/overview/overview.ts': SHOWN,
  'features/portal/overview/request-stats.ts': SHOWN,
  'features/portal/html/format.ts': SHOWN,
  'features/portal/html/page.ts': SHOWN,
  'features/portal/history/undo.ts': 'Offers a change that a page could make at any time.',
  'features/portal/account/account.ts': SHOWN,
  'features/portal/account/two-factor.ts':
    `${STEPS}accepts one-time codes again once a clock is corrected`,
  'features/portal/start/tour.ts': SHOWN,
  'features/portal/sign-in/rate-limits.ts': MONOTONIC,
  'features/portal/sign-in/session.ts': SESSIONS,
  'features/portal/sign-in/sign-in.ts':
    `${STEPS}accepts one-time codes again once a clock is corrected`,
  'features/portal/imports/import-job.ts': LABELLED,
  'features/portal/imports/import-jobs.ts': MONOTONIC,
  'features/portal/imports/memory-jobs.ts': MONOTONIC,
  'features/portal/imports/revert/revert-page.ts': 'Suggests a time, which the person confirms.',
  'features/portal/products/export-file.ts': SHOWN,
  'features/portal/products/product-view.ts': SHOWN,
  'features/portal/reports/reports.ts': SHOWN,
  'features/portal/keys/key-facts.ts': SHOWN,
  'features/portal/keys/key-form.ts': GRANTS,
  'features/portal/keys/leaked.ts': SHOWN,
  'features/portal/forms/date-range.ts': SHOWN,
  'features/portal/people/people.ts': GRANTS,
  'cli/progress.ts': 'Its clock is monotonic.',
  'cli/admin/doctor.ts': SHOWN,
  'cli/admin/key.ts': GRANTS,
  'cli/watch/stock-watch.ts': 'test/cli/watch/stock-watch.test.ts: in which the clock was set back',
  'cli/watch/watched-folder.ts': 'Makes names, which a UUID makes unique.',
  'cli/serve/backups.ts': PASSED,
  'cli/serve/listening.ts': 'Warns of a certificate whose period does not include now.',
  'cli/serve/retention.ts': `${STEPS}removes no history that is younger in lived time`,
  'cli/backup/backup-schedule.ts': LABELLED,
  'cli/backup/backup.ts': 'test/store/sqlite/backup/backup-folder.test.ts: clock',
  'cli/transfer/stock-sync.ts': PASSED,
  'store/database-engine.ts': PASSED,
  'store/invitation.ts': GRANTS,
  'store/open-store.ts': PASSED,
  'store/shared-store.ts': PASSED,
  'store/sql/access/keys.ts': GRANTS,
  'store/sql/accounts/invitations.ts': GRANTS,
  'store/sql/webhooks/webhook-methods.ts': 'An old secret may sign longer, which gives no access.',
  'store/sql/check/catalogue-checks.ts': 'Names the wrong clock in a warning.',
  'store/postgres/catalogue/write-rows.ts': LABELLED,
  'store/postgres/adapter.ts': PASSED,
  'store/postgres/database.ts': PASSED,
  'store/postgres/store.ts': PASSED,
  'store/postgres/engine/catalogue-transactions.ts': REPLAY,
  'store/postgres/engine/seller-transactions.ts': REPLAY,
  'store/postgres/nodes/delivery.ts': `${LEASES}takes no lease that is renewed if the clock`,
  'store/postgres/nodes/node-table.ts': `${LEASES}takes over from a vanished node if the clock`,
  'store/postgres/nodes/token-buckets.ts': 'A step ahead fills a bucket once; a step back is as'
    + ' long as for an empty bucket at most.',
  'store/sqlite/store.ts': PASSED,
  'store/sqlite/engine/writer.ts': STORED_TIME,
  'store/sqlite/files/atomic-file.ts': 'Removes temporary files that no process has locked.',
  'store/nodes/leased-limiter.ts': 'Its clock is monotonic.',
  'store/nodes/memory-throttles.ts': MONOTONIC,
  'embed/administration.ts': GRANTS,
  'embed/shop-options.ts': PASSED,
  'embed/shop.ts': PASSED,
  'client/verify-webhook.ts': 'Rejects a message whose time is far from the clock, both ways.',
};

/** What reads the wall clock, or names it. */
export const WALL_CLOCK =
  /\bDate\.now\b|\bclock\b|\bClock\b|DATABASE_TIME|statement_timestamp|new Date\(\)|\bwall\b/;

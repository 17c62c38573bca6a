export { type AdmissionActivities, createAdmissionActivities } from './admission.activities.js';
export { type AllocationActivities, createAllocationActivities } from './allocation.activities.js';
export { createLeftoverActivities } from './leftover.activities.js';
export { createRegradeActivities } from './regrade.activities.js';
export { createScorecardActivities, type ScorecardActivities } from './scorecard.activities.js';
export { createSessionActivities } from './session.activities.js';
export { createSweepActivities } from './sweep.activities.js';

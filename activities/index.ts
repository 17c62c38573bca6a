export { type AdmissionActivities, createAdmissionActivities } from './admission.activities.js';
export { type AllocationActivities, createAllocationActivities } from './allocation.activities.js';
export { createScorecardActivities, type ScorecardActivities } from './scorecard.activities.js';

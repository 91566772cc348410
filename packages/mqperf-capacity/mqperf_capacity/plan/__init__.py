"""What plans may say of quotas, and the tables of what is predicted."""
